"""An index that was made elsewhere, looked through before anything compiled reads it (core/made_here.py says when)."""

from pathlib import Path

import numpy as np

from lexigraft.core.validation import require_permutation, wrong
from lexigraft.index.inverted import Index
from lexigraft.index.validate_lists import FINE, REST, SAYS, look_through
from lexigraft.vectors.validate import validate_tables


def validate_index(path: Path, index: Index) -> None:
    """Raise `ArtifactError` unless every number of the opened index at `path` points to where it may. Sizes, and that
    entries and range_starts fit the stream, were looked at when it was opened (index/structure.py)."""
    meta = index.meta
    tables = (index.doc_ids, index.titles, index.vocabulary.terms)
    validate_tables(path, tables, {"doc_ids": meta.n_documents, "titles": meta.n_documents, "terms": meta.n_terms})
    if index.vocabulary.fingerprint != meta.vocab_fingerprint:
        raise wrong(path / "terms.utf8", "holds other terms than meta.json says")
    require_permutation(path / "tie_rank.npy", index.tie_rank, meta.n_documents)
    _validate_lists(path, index)
    if index.texts is not None:
        index.texts.validate()


def _validate_lists(path: Path, index: Index) -> None:
    lengths, largest = np.zeros(index.n_terms, np.int64), np.zeros(index.n_terms, np.uint32)
    what, number, term = look_through(index.stored, lengths, largest)
    if what == REST:
        raise wrong(path / "stream.npy", f"has a range, {number}, whose last list {SAYS[what]}")
    if what != FINE:
        raise wrong(path / "stream.npy", f"has a list, of term {term} in range {number}, that {SAYS[what]}")
    if not np.array_equal(lengths, index.lengths):
        raise wrong(path / "lengths.npy", "has other numbers of postings than the lists have")
    if not np.array_equal(largest, index.list_max):
        raise wrong(path / "list_max.npy", "has other largest impacts than the lists have")
    if int(lengths.sum()) != index.meta.n_postings:
        raise wrong(path / "meta.json", f"says n_postings = {index.meta.n_postings}, and lists have {lengths.sum()}")
