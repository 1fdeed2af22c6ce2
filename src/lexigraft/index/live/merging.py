"""Several segments to the vectors of their living rows, in bounded memory, and which segments it pays to merge.

An impact times its scale is a weight that becomes the same impact again under the same scale, so merging loses nothing.
Where scales differ, all rows get the largest; the error this makes is measured, not guessed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix
from lexigraft.index.live.reader import Segment
from lexigraft.index.live.state import SegmentState
from lexigraft.index.rows import iterate_rows
from lexigraft.vectors.quantize import quantize_documents
from lexigraft.vectors.rows_writer import DocumentRowsWriter
from lexigraft.vectors.store import ENTRIES_PER_CHUNK, DocumentVectors

TIMES_LARGER = 2  # a segment is left alone while it is so many times as large as all later ones together
DELETED_SHARE = 0.25  # from this share on, a segment is written again without its deleted rows


class Rebuilt(NamedTuple):
    """The vectors of living rows, the scale they are to be indexed with, and the largest error of a weight."""

    vectors: DocumentVectors
    scale: float
    largest_error: float


def plan_merge(segments: Sequence[SegmentState], everything: bool = False) -> tuple[int, int] | None:
    """The next range of adjacent segments (first, last + 1) to merge into one; None where none pays.

    Segments that would leave nothing behind count as well, unless they are all there is.
    """
    if len(segments) == 1 and not segments[0].n_living:
        return None
    if everything:
        return (0, len(segments)) if len(segments) > 1 or segments[0].n_deleted else None
    sizes = [segment.n_living for segment in segments]
    for first in range(len(segments) - 1):
        if sizes[first] < TIMES_LARGER * sum(sizes[first + 1 :]):
            return first, len(segments)
    shares = [segment.n_deleted / max(1, segment.n_rows) for segment in segments]
    worst = int(np.argmax(shares))
    return (worst, worst + 1) if shares[worst] >= DELETED_SHARE else None


def rebuild_vectors(segments: Sequence[Segment], folder: Path, progress: Progress = SILENT) -> Rebuilt:
    """Write the living rows of `segments`, in order, as vectors into `folder`, and map them."""
    scale = max(scales_of(segments), default=segments[0].index.meta.scale)
    largest_error = 0.0
    ranges = [(segment, *span) for segment in segments for span in _row_ranges(segment)]
    with DocumentRowsWriter(folder) as writer:
        for segment, start, end in progress.track(ranges, "reading segments", len(ranges)):
            living = _living(segment, start, end)
            places = living + start
            writer.append_names(segment.index.doc_ids.take(places), segment.index.titles.take(places))
            rows = iterate_rows(segment.index, start, end)
            lengths = np.diff(rows.indptr)
            kept = np.zeros(end - start, bool)
            kept[living] = True
            entries = np.repeat(kept, lengths)
            values = rows.impacts[entries].astype(np.float32) * np.float32(segment.index.meta.scale)
            meta = segment.index.meta
            largest_error = max(largest_error, _requantisation_error(values, meta.scale, scale, meta.bits))
            writer.append_rows(np.cumsum(lengths[living]), rows.term_ids[entries], values)
    shared = segments[0].index
    matrix = SparseMatrix(
        row_ids=StringTable(folder, "row_ids"),
        indptr=open_array(folder / "indptr.npy"),
        term_ids=open_array(folder / "term_ids.npy"),
        weights=open_array(folder / "weights.npy"),
        n_terms=shared.n_terms,
        vocab_fingerprint=shared.meta.vocab_fingerprint,
    )
    titles_of, meta = StringTable(folder, "titles"), shared.meta
    vectors = DocumentVectors(matrix, titles_of, shared.vocabulary, meta.query_encoder, "", meta.passages)
    return Rebuilt(vectors, scale, largest_error)


def scales_of(segments: Sequence[Segment]) -> set[float]:
    """The different scales that weights have; that of a segment without postings is of none."""
    return {segment.index.meta.scale for segment in segments if segment.index.meta.n_postings}


def _row_ranges(segment: Segment) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about as many entries as are held in memory at once."""
    meta = segment.index.meta
    at_once = max(1, ENTRIES_PER_CHUNK * meta.n_documents // max(1, meta.n_postings))
    for start in range(0, meta.n_documents, at_once):
        yield start, min(start + at_once, meta.n_documents)


def _living(segment: Segment, start: int, end: int) -> NDArray[np.int64]:
    """The places within start..end of the rows that are not deleted."""
    if segment.allowed is None:
        return np.arange(end - start)
    return np.flatnonzero(segment.allowed[start:end])


def _requantisation_error(weights: NDArray[np.float32], own: float, scale: float, bits: int) -> float:
    if own == scale or not len(weights):
        return 0.0
    return float(np.abs(quantize_documents(weights, scale, bits) * scale - weights.astype(np.float64)).max())
