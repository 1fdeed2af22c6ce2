"""An index read back as document vectors, for what needs a document's terms where the vectors are gone.

A weight is what the index kept of it, its impact times the scale; terms that were cut when it was made stay away.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array, write_strings
from lexigraft.index.inverted import Index
from lexigraft.index.rows import iterate_rows
from lexigraft.vectors.rows_writer import RowsWriter
from lexigraft.vectors.store import VectorsMeta, row_ranges, write_meta


def write_index_as_vectors(
    index: Index, ordinals: Sequence[int], query_encoder: Mapping[str, Any], folder: Path
) -> None:
    """The files of a `vectors` artifact into `folder`: the rows `ordinals` of the index, in that order.
    `query_encoder`: how queries are encoded, as seen from where the vectors will lie."""
    with TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name)
        _write_rows(index, scratch)
        indptr, term_ids, weights = (open_array(scratch / f"{part}.npy") for part in ("indptr", "term_ids", "weights"))
        _write_in_order(indptr, term_ids, weights, np.asarray(ordinals, np.int64), folder)
    write_strings(folder, "row_ids", (index.doc_ids[ordinal] for ordinal in ordinals))
    write_strings(folder, "titles", (index.titles[ordinal] for ordinal in ordinals))
    write_strings(folder, "terms", index.vocabulary.terms)
    meta = index.meta
    write_meta(
        folder, VectorsMeta(len(ordinals), meta.n_terms, meta.vocab_fingerprint, query_encoder, meta.passages)
    )  # fmt: skip


def _write_rows(index: Index, folder: Path) -> None:
    """All rows in the order of the index, a range of documents at a time: its lists are cut that way."""
    with RowsWriter(folder) as writer:
        for start in range(0, index.n_documents, index.meta.range_size):
            rows = iterate_rows(index, start, min(start + index.meta.range_size, index.n_documents))
            weights = (rows.impacts * np.float64(index.meta.scale)).astype(np.float32)
            writer.append_rows(rows.indptr[1:], rows.term_ids, weights)


def _write_in_order(
    indptr: NDArray[np.int64],
    term_ids: NDArray[np.int32],
    weights: NDArray[np.float32],
    ordinals: NDArray[np.int64],
    folder: Path,
) -> None:
    """The rows `ordinals` of a matrix, some millions of entries at a time."""
    lengths = np.diff(indptr)[ordinals]
    taken = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    with RowsWriter(folder) as writer:
        for start, end in row_ranges(taken):
            shifts = indptr[ordinals[start:end]] - taken[start:end]
            at = np.repeat(shifts, lengths[start:end]) + np.arange(taken[start], taken[end])
            writer.append_rows(taken[start + 1 : end + 1] - taken[start], term_ids[at], weights[at])
