"""Indexes of format 1 (one array of ordinals and one of impacts), opened as if they were of the present one.

Their lists are encoded on opening, in memory: a second or two for ten million postings. Building the index again makes
it the present format on disk.
"""

from pathlib import Path

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, read_only
from lexigraft.core.stored_record import read_record
from lexigraft.core.types import Vocabulary
from lexigraft.core.validation import require_ascending_rows, require_length, require_pointers, wrong
from lexigraft.index.codec import RANGE, encode_range, padded, require_addressable
from lexigraft.index.inverted import OF_META, Index, IndexMeta


def open_version1(path: Path) -> Index:
    """The index at `path`. Its lists are always looked through: kernels encode them, and all are read."""
    meta = read_record(path / "meta.json", IndexMeta, OF_META)
    indptr, ordinals = open_array(path / "indptr.npy", np.int64), open_array(path / "doc_ordinals.npy", np.int32)
    impacts, list_max = open_array(path / "impacts.npy", np.uint8), open_array(path / "list_max.npy", np.uint8)
    tie_rank = open_array(path / "tie_rank.npy", np.int32)
    require_pointers(path / "indptr.npy", indptr, meta.n_terms, len(ordinals))
    require_ascending_rows(path / "doc_ordinals.npy", indptr, ordinals, meta.n_documents)
    require_length(path / "impacts.npy", len(impacts), len(ordinals))
    require_length(path / "list_max.npy", len(list_max), meta.n_terms)
    require_length(path / "tie_rank.npy", len(tie_rank), meta.n_documents)
    if not impacts.all():
        raise wrong(path / "impacts.npy", "has impacts of 0")
    if (meta.bits, meta.range_size, meta.reordered) != (8, RANGE, False):
        raise wrong(path / "meta.json", "says what this format does not have")
    lengths = np.diff(indptr)
    terms = np.repeat(np.arange(meta.n_terms), lengths)
    numbers = (ordinals // RANGE).astype(np.uint16)
    by_range = np.argsort(numbers, kind="stable")  # within a range by term, then by document
    ends = np.cumsum(np.bincount(numbers, minlength=-(-meta.n_documents // RANGE)))
    range_starts, entries, words = [0], [], []
    for first, here in zip(range(0, meta.n_documents, RANGE), np.split(by_range, ends[:-1]), strict=True):
        starts = np.concatenate(([0], np.cumsum(np.bincount(terms[here], minlength=meta.n_terms))))
        places = (ordinals[here] - first).astype(np.uint16)
        n_here = min(RANGE, meta.n_documents - first)
        found = encode_range(starts, places, impacts[here], padded(n_here), 8)
        require_addressable(len(found[1]), n_here)
        entries.append(found[0])
        words.append(found[1])
        range_starts.append(range_starts[-1] + len(found[1]))
    return Index(
        doc_ids=StringTable(path, "doc_ids"),
        titles=StringTable(path, "titles"),
        vocabulary=Vocabulary(StringTable(path, "terms")),
        entries=read_only(np.array(entries, np.uint32).reshape(-1, meta.n_terms)),
        stream=read_only(np.concatenate([np.zeros(0, np.uint16), *words])),
        range_starts=read_only(np.array(range_starts, np.int64)),
        lengths=read_only(lengths),
        list_max=read_only(list_max.astype(np.uint32)),
        tie_rank=tie_rank,
        meta=meta,
    )
