"""Document vectors to an inverted index, in bounded memory (S1).

The vectors are already on disk, and postings are kept by ranges of documents, so nothing needs an external sort: a
first pass counts, then each range of documents is inverted by itself and appended. A range whose postings exceed the
memory budget is done in slices of the vocabulary.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Int32s, Int64s, Uint16s
from lexigraft.core.arrays import ArrayWriter, release_pages, write_strings
from lexigraft.core.compiled import compiled
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import InputError, require
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import SparseMatrix
from lexigraft.index.codec import RANGE, encode_range, padded, require_addressable
from lexigraft.index.impact_bits import impact_bits
from lexigraft.index.inverted import IndexMeta
from lexigraft.index.reorder import reorder
from lexigraft.index.store import write_meta
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.quantize import document_scale, fits, quantize_documents
from lexigraft.vectors.rows import require_rows
from lexigraft.vectors.store import DocumentVectors, row_ranges

# By the bits of an impact: a place and an impact before they are encoded (1 byte or 4), the words after (at most 3, 4
# and 6 bytes), and a chunk of vectors.
BYTES_PER_POSTING = {8: 8, 16: 12, 24: 14}
LONGEST_FIXED_ID = 64
ENTRIES_PER_CHUNK = 1 << 20

Rows = Int64s
Chunk = tuple[int, Int64s, Int32s, Float32s]


def build_index(
    vectors: DocumentVectors,
    folder: Path,
    keep: DocumentCut = 0,
    settings: IndexSettings | None = None,
    progress: Progress = SILENT,
    scale: float | None = None,
    range_size: int = RANGE,
) -> IndexMeta:
    """Write the index of `vectors`, each document cut to what `keep` says (0: all), into `folder`.

    `scale`: what an impact of 1 stands for, where it is not to be that of the largest weight here; one that is too
    small for a weight raises. `range_size`, at most 65,536, is for tests.
    """
    settings = settings or IndexSettings()
    require(1 <= range_size <= RANGE, "range_size", range_size, f"1 to {RANGE:,}, which 16 bits can tell apart")
    matrix = vectors.matrix
    bits = impact_bits(settings, vectors, keep)
    lengths, list_max, largest = count_postings(matrix, keep)
    scale = document_scale(largest, bits) if scale is None else scale
    if not fits(largest, scale, bits):
        most = 2**bits - 1
        raise InputError(f"a weight of {largest:g} is more than {most} times the scale {scale:g}; give no scale")
    order = None
    if settings.reorder and matrix.n_rows > 1:
        threads = os.cpu_count() or 1  # any number gives the same order
        order = reorder(matrix.indptr, matrix.term_ids, matrix.n_terms, threads=threads, progress=progress)
    spans = list(pairwise([*range(0, matrix.n_rows, range_size), matrix.n_rows]))
    range_starts = [0]
    with (
        ArrayWriter(folder / "entries.npy", np.uint32) as entries,
        ArrayWriter(folder / "stream.npy", np.uint16) as stream,
    ):
        for first, last in progress.track(spans, "inverting", len(spans)):
            rows = np.arange(first, last) if order is None else order[first:last].astype(np.int64)
            _append_range(matrix, rows, keep, scale, bits, settings.memory_mib, entries, stream, range_starts[-1])
            range_starts.append(stream.length)
    np.save(folder / "range_starts.npy", np.array(range_starts, np.int64))
    np.save(folder / "lengths.npy", lengths)
    np.save(folder / "list_max.npy", quantize_documents(list_max, scale, bits).astype(np.uint32) * (lengths > 0))
    rank = tie_rank(matrix.row_ids)
    np.save(folder / "tie_rank.npy", rank if order is None else rank[order])
    write_strings(folder, "doc_ids", _permuted(matrix.row_ids, order))
    write_strings(folder, "titles", _permuted(vectors.titles, order))
    write_strings(folder, "terms", vectors.vocabulary.terms)
    meta = IndexMeta(
        matrix.n_rows,
        matrix.n_terms,
        int(lengths.sum()),
        scale,
        keep,
        matrix.vocab_fingerprint,
        vectors.query_encoder,
        vectors.passages,
        bits,
        range_size,
        order is not None,
    )
    write_meta(folder, meta)
    return meta


def _permuted(strings: Sequence[str], order: Int32s | None) -> Any:
    return strings if order is None else (strings[int(row)] for row in order)


def count_postings(matrix: SparseMatrix, keep: DocumentCut) -> tuple[Int64s, Float32s, float]:
    """(postings, largest weight) of every term, and the largest weight of all."""
    lengths, list_max = np.zeros(matrix.n_terms, np.int64), np.zeros(matrix.n_terms, np.float32)
    for start, end in row_ranges(matrix.indptr, ENTRIES_PER_CHUNK):
        for row, pointers, term_ids, weights in _chunks(matrix, np.arange(start, end), keep):
            require_rows(pointers, term_ids, matrix.n_terms, start + row)
            if not (np.isfinite(weights).all() and (weights > 0).all()):
                raise InputError("document weights must be finite and greater than 0")
            count_terms(term_ids, weights, lengths, list_max)
    return lengths, list_max, float(list_max.max(initial=0))


@compiled
def count_terms(term_ids: Int32s, weights: Float32s, lengths: Int64s, list_max: Float32s) -> None:
    for i in range(len(term_ids)):
        lengths[term_ids[i]] += 1
        list_max[term_ids[i]] = max(list_max[term_ids[i]], weights[i])


def _chunks(matrix: SparseMatrix, rows: Rows, keep: DocumentCut) -> Iterator[Chunk]:
    """(place of the first row among `rows`, row pointers, term ids, weights), pruned, a bounded part at a time."""
    lengths = matrix.indptr[rows + 1] - matrix.indptr[rows]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    for start, end in row_ranges(ends, ENTRIES_PER_CHUNK):
        some = rows[start:end]
        if some[-1] - some[0] == len(some) - 1 and (np.diff(some) == 1).all():
            span: Any = slice(matrix.indptr[some[0]], matrix.indptr[some[-1] + 1])
        else:
            here = ends[start:end] - ends[start]
            span = np.repeat(matrix.indptr[some] - here, lengths[start:end]) + np.arange(ends[end] - ends[start])
        pointers = ends[start : end + 1] - ends[start]
        yield start, *prune_rows(pointers, np.asarray(matrix.term_ids[span]), np.asarray(matrix.weights[span]), keep)
        release_pages(matrix.term_ids, matrix.weights)


def _append_range(
    matrix: SparseMatrix,
    rows: Rows,
    keep: DocumentCut,
    scale: float,
    bits: int,
    memory_mib: int,
    entries: ArrayWriter,
    stream: ArrayWriter,
    range_start: int,
) -> None:
    """Invert `rows`, a range of documents, and append its entries and lists."""
    counts = np.zeros(matrix.n_terms, np.int64)
    for _, _, term_ids, _ in _chunks(matrix, rows, keep):
        counts += np.bincount(term_ids, minlength=matrix.n_terms)
    starts = np.concatenate(([0], np.cumsum(counts)))
    budget = max(1, memory_mib * 2**20 // BYTES_PER_POSTING[bits])
    for first, last in row_ranges(starts, budget):
        size = int(starts[last] - starts[first])
        places, impacts = np.empty(size, np.uint16), np.empty(size, np.uint8 if bits == 8 else np.uint32)
        cursors = starts[first:last] - starts[first]
        for row, pointers, term_ids, weights in _chunks(matrix, rows, keep):
            quantized = quantize_documents(weights, scale, bits)
            scatter(row, pointers, term_ids, quantized, first, last, cursors, places, impacts)
        here = starts[first : last + 1] - starts[first]
        offset = stream.length - range_start
        found, words = encode_range(here, places, impacts, padded(len(rows)), bits)
        require_addressable(offset + len(words), len(rows))
        entries.append(np.where(found > 0, found + np.uint32(offset << 2), np.uint32(0)))
        stream.append(words)


@compiled
def scatter(
    first_place: int,
    rows: Int64s,
    term_ids: Int32s,
    row_impacts: NDArray[Any],
    first_term: int,
    last_term: int,
    cursors: Int64s,
    places: Uint16s,
    impacts: NDArray[Any],
) -> None:
    """Append each entry of the rows whose term is in range to its list; rows come in order, so lists do too."""
    for row in range(len(rows) - 1):
        for i in range(rows[row], rows[row + 1]):
            term = term_ids[i]
            if first_term <= term < last_term:
                at = cursors[term - first_term]
                places[at] = first_place + row
                impacts[at] = row_impacts[i]
                cursors[term - first_term] = at + 1


def tie_rank(doc_ids: Sequence[str]) -> Int32s:
    """Each document's position in `doc_id` order (UTF-8 bytes, the same as code points); ids must be distinct."""
    width, packs = 1, True
    for doc_id in doc_ids:
        width, packs = max(width, len(doc_id.encode())), packs and not doc_id.endswith("\0")
    encoded: Any = (doc_id.encode() for doc_id in doc_ids)
    # A packed array sorts in a tenth of the memory, and cannot tell NULs at the end of an id from its own filling.
    if packs and width <= LONGEST_FIXED_ID:
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
