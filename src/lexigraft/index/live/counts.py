"""What a segment of BM25 keeps beside its index, so that merging can weigh its documents anew: their counted words.

    counts/indptr.npy term_ids.npy counts.npy    documents in the order in which they were added; the terms of each in
                                                 the order of their first appearance
    counts/rows.npy                              the index's row of each document; only where the index is reordered

Ids, titles and the numbers of terms are those of the index.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array, release_pages
from lexigraft.core.errors import ArtifactError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Vocabulary
from lexigraft.index.inverted import Index
from lexigraft.index.live.state import REMEDY
from lexigraft.vectors.counted_texts import ARRAYS, CountedRows, CountedRowsWriter, Renumbering, open_counted
from lexigraft.vectors.store import row_ranges

COUNTS, ROWS = "counts", "rows.npy"


class SegmentCounts(NamedTuple):
    """The counted documents of one segment; `rows` is None where they lie in the index in the order of addition."""

    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    rows: NDArray[np.int64] | None

    def living(self, allowed: NDArray[np.uint8] | None) -> NDArray[np.bool_]:
        """Of each document in the order of addition, whether `allowed`, by the index's rows, says that it lives."""
        if allowed is None:
            return np.ones(len(self.indptr) - 1, bool)
        return (allowed if self.rows is None else allowed[self.rows]) > 0


@dataclass(frozen=True, eq=False)
class CountedSegment:
    """An open segment of BM25: its index, which of its rows live (None: all), and its counts."""

    index: Index
    allowed: NDArray[np.uint8] | None
    counts: SegmentCounts


def keep_counts(rows: CountedRows, segment: Path, reordered_ids: Sequence[str] | None) -> None:
    """Copy the counts of `rows` into the folder of a segment; `reordered_ids` are the ids of its index's rows, where
    those are in an order of their own."""
    folder = segment / COUNTS
    folder.mkdir()
    for name in ARRAYS:
        shutil.copyfile(rows.folder / f"{name}.npy", folder / f"{name}.npy")
    if reordered_ids is not None:
        row_of = {row_id: row for row, row_id in enumerate(reordered_ids)}
        np.save(folder / ROWS, np.array([row_of[row_id] for row_id in rows.row_ids], np.int64))


def open_segment_counts(segment: Path, index: Index) -> SegmentCounts:
    """The counts in a segment's folder, memory-mapped. Checksums are compared where its index is opened."""
    folder = segment / COUNTS
    indptr, term_ids, counts = (open_array(folder / f"{name}.npy") for name in ARRAYS)
    fits = len(indptr) == index.n_documents + 1 and indptr[-1] == len(term_ids) == len(counts)
    if not fits:
        raise ArtifactError(f"{folder} does not fit the index beside it: it was changed or damaged; {REMEDY}")
    return SegmentCounts(indptr, term_ids, counts, open_array(folder / ROWS) if index.meta.reordered else None)


def document_frequency(segments: Sequence[CountedSegment], n_terms: int) -> NDArray[np.int64]:
    """How many living documents hold each term: the lengths of its lists, less the deleted documents that hold it."""
    frequency = np.zeros(n_terms, np.int64)
    for segment in segments:
        counts = segment.counts
        frequency[: segment.index.n_terms] += segment.index.lengths
        if segment.allowed is not None:
            deleted = np.flatnonzero(~counts.living(segment.allowed))
            frequency -= count_terms(counts.indptr, counts.term_ids, deleted, n_terms)
    return frequency


def count_terms(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], rows: NDArray[np.int64], n_terms: int
) -> NDArray[np.int64]:
    """In how many of `rows`, each of which names a term once, each term is; only those rows are read."""
    starts, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    return np.bincount(term_ids[places], minlength=n_terms)


def living_rows(
    segments: Sequence[CountedSegment],
    vocabulary: Vocabulary,
    renumber: bool,
    folder: Path,
    progress: Progress = SILENT,
) -> CountedRows:
    """Write the living documents of `segments`, in the order of their addition, into `folder`. Their terms keep the
    numbers of `vocabulary`, which all segments share, or with `renumber` get those, and the vocabulary becomes that, of
    an index made of these documents alone."""
    renumbering = Renumbering(len(vocabulary)) if renumber else None
    with CountedRowsWriter(folder) as writer:
        for segment in segments:
            _append_living(segment, renumbering, writer, progress)
    if renumbering is not None:
        vocabulary = Vocabulary(tuple(vocabulary.terms[int(term)] for term in renumbering.met()))
    return open_counted(folder, vocabulary)


def _append_living(
    segment: CountedSegment, renumbering: Renumbering | None, writer: CountedRowsWriter, progress: Progress
) -> None:
    index, (indptr, term_ids, counts, rows) = segment.index, segment.counts
    living = segment.counts.living(segment.allowed)
    spans: Iterator[tuple[int, int]] = row_ranges(indptr)
    for start, end in progress.track(spans, "reading segments"):
        kept, lengths = living[start:end], np.diff(indptr[start : end + 1])
        span, entries = slice(indptr[start], indptr[end]), np.repeat(kept, lengths)
        added = np.flatnonzero(kept) + start
        places = added if rows is None else rows[added]
        ids = np.ascontiguousarray(term_ids[span][entries])
        writer.append(
            index.doc_ids.take(places),
            index.titles.take(places),
            np.cumsum(lengths[kept]),
            ids if renumbering is None else renumbering.renumber(ids),
            counts[span][entries],
        )
        release_pages(term_ids, counts)
