"""Document vectors to an inverted index, in bounded memory (S1).

The vectors are already on disk, so nothing needs an external sort: a first pass counts each term's postings, then the
vocabulary is cut into ranges whose postings fit the memory budget, and one pass per range scatters them into place and
writes them out in order. With the default budget that is a single pass up to about fifty million postings.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, release_pages, write_strings
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import SparseMatrix
from lexigraft.index.store import IndexMeta, write_meta
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.quantize import MAX_IMPACT, document_scale, fits, quantize_documents
from lexigraft.vectors.store import DocumentVectors, row_ranges

BYTES_PER_POSTING = 5  # an int32 ordinal and a uint8 impact
LONGEST_FIXED_ID = 64

Chunk = tuple[int, NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def build_index(
    vectors: DocumentVectors,
    folder: Path,
    keep: int = 0,
    settings: IndexSettings | None = None,
    progress: Progress = SILENT,
    scale: float | None = None,
) -> IndexMeta:
    """Write the index of `vectors`, each document cut to its `keep` heaviest terms (0: all), into `folder`.

    `scale` is that of the impacts where another index has set it; the heaviest weight must fit.
    """
    settings = settings or IndexSettings()
    matrix = vectors.matrix
    lengths, largest = _count_postings(matrix, keep)
    if scale is None:
        scale = document_scale(largest)
    elif not fits(largest, scale):
        raise InputError(f"a weight of {largest:g} is more than {MAX_IMPACT} times the scale {scale:g}; give no scale")
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    np.save(folder / "indptr.npy", indptr)
    list_max = np.zeros(matrix.n_terms, np.uint8)
    ranges = list(_term_ranges(indptr, settings.memory_mib * 2**20 // BYTES_PER_POSTING))
    with (
        ArrayWriter(folder / "doc_ordinals.npy", np.int32) as ordinals,
        ArrayWriter(folder / "impacts.npy", np.uint8) as impacts,
    ):
        for first, last in progress.track(ranges, "inverting", len(ranges)):
            doc_ordinals, range_impacts = _invert(matrix, keep, scale, indptr, first, last, list_max)
            ordinals.append(doc_ordinals)
            impacts.append(range_impacts)
    np.save(folder / "list_max.npy", list_max)
    np.save(folder / "tie_rank.npy", _tie_rank(matrix.row_ids))
    write_strings(folder, "doc_ids", matrix.row_ids)
    write_strings(folder, "titles", vectors.titles)
    write_strings(folder, "terms", vectors.vocabulary.terms)
    meta = IndexMeta(
        matrix.n_rows,
        matrix.n_terms,
        int(indptr[-1]),
        scale,
        keep,
        matrix.vocab_fingerprint,
        vectors.query_encoder,
        vectors.passages,
    )
    write_meta(folder, meta)
    return meta


def _chunks(matrix: SparseMatrix, keep: int) -> Iterator[Chunk]:
    """(first row, row pointers, term ids, weights) of consecutive pruned row ranges."""
    for start, end in row_ranges(matrix.indptr):
        span = slice(matrix.indptr[start], matrix.indptr[end])
        rows = np.asarray(matrix.indptr[start : end + 1])
        yield start, *prune_rows(rows, np.asarray(matrix.term_ids[span]), np.asarray(matrix.weights[span]), keep)
        release_pages(matrix.term_ids, matrix.weights)


def _count_postings(matrix: SparseMatrix, keep: int) -> tuple[NDArray[np.int64], float]:
    lengths, largest = np.zeros(matrix.n_terms, np.int64), 0.0
    for _, _, term_ids, weights in _chunks(matrix, keep):
        if len(term_ids) and int(term_ids.max()) >= matrix.n_terms:
            raise InputError(f"term id {int(term_ids.max())} is outside the vocabulary of {matrix.n_terms} terms")
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InputError("document weights must be finite and greater than 0")
        lengths += np.bincount(term_ids, minlength=matrix.n_terms)
        largest = max(largest, float(weights.max(initial=0)))
    return lengths, largest


def _term_ranges(indptr: NDArray[np.int64], postings: int) -> Iterator[tuple[int, int]]:
    """Consecutive term ranges (first, last + 1) of at most `postings` postings each, at least one term."""
    return row_ranges(indptr, max(1, postings))


def _invert(
    matrix: SparseMatrix,
    keep: int,
    scale: float,
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    list_max: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Postings of terms first..last-1 in order; fills their `list_max`."""
    size = int(indptr[last] - indptr[first])
    ordinals, impacts = np.empty(size, np.int32), np.empty(size, np.uint8)
    cursors = indptr[first:last] - indptr[first]
    for row, rows, term_ids, weights in _chunks(matrix, keep):
        scatter(
            row, rows, term_ids, quantize_documents(weights, scale), first, last, cursors, ordinals, impacts, list_max
        )
    return ordinals, impacts


@compiled
def scatter(
    first_row: int,
    rows: NDArray[np.int64],
    term_ids: NDArray[np.int32],
    row_impacts: NDArray[np.uint8],
    first_term: int,
    last_term: int,
    cursors: NDArray[np.int64],
    ordinals: NDArray[np.int32],
    impacts: NDArray[np.uint8],
    list_max: NDArray[np.uint8],
) -> None:
    """Append each entry of the rows whose term is in range to its list; rows come in order, so lists do too."""
    for row in range(len(rows) - 1):
        for i in range(rows[row], rows[row + 1]):
            term = term_ids[i]
            if first_term <= term < last_term:
                at = cursors[term - first_term]
                ordinals[at] = first_row + row
                impacts[at] = row_impacts[i]
                cursors[term - first_term] = at + 1
                list_max[term] = max(list_max[term], row_impacts[i])


def _tie_rank(doc_ids: Sequence[str]) -> NDArray[np.int32]:
    """Each document's position in `doc_id` order (UTF-8 bytes, the same as code points); ids must be distinct."""
    width = max((len(doc_id.encode()) for doc_id in doc_ids), default=1)
    encoded: Any = (doc_id.encode() for doc_id in doc_ids)
    if width <= LONGEST_FIXED_ID:  # a packed array sorts in a tenth of the memory
        packed = np.fromiter(encoded, f"S{width}", len(doc_ids))
        order = np.argsort(packed, kind="stable")
        repeated = np.flatnonzero(packed[order[1:]] == packed[order[:-1]])
    else:
        loose = list(encoded)
        order = np.array(sorted(range(len(loose)), key=loose.__getitem__), np.int64)
        repeated = np.flatnonzero([loose[here] == loose[there] for here, there in pairwise(order.tolist())])
    if len(repeated):
        here, there = order[repeated[0]], order[repeated[0] + 1]
        where = f"as documents {here + 1} and {there + 1}"
        raise InputError(f"document id {doc_ids[int(here)]!r} appears twice, {where}; ids must be distinct")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank
