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
from lexigraft.core.artifact import MANIFEST, read_manifest
from lexigraft.core.compiled import compiled, worth_loading
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Vocabulary
from lexigraft.core.validation import require_permutation, require_pointers, require_positive, require_within, wrong
from lexigraft.index.inverted import Index
from lexigraft.index.live.graft_files import validate_vectors
from lexigraft.index.live.state import REMEDY
from lexigraft.index.metadata_files import MetadataTable
from lexigraft.vectors.counted_texts import ARRAYS, CountedRows, CountedRowsWriter, Renumbering, open_counted
from lexigraft.vectors.store import row_ranges

COUNTS, ROWS = "counts", "rows.npy"
DISTINCT = 5  # what looking at an entry costs without a kernel (see `worth_loading`)


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
    metadata: MetadataTable | None = None
    vectors: NDArray[np.float16] | None = None  # where it is grafted, in the order of addition


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


def open_segment_counts(segment: Path, index: Index, checksums: bool) -> SegmentCounts:
    """The counts in a segment's folder, memory-mapped; `checksums` were compared where its index was opened. To be
    called within the `pinned.read_pinned` of that: then it is those very files that are mapped."""
    folder = segment / COUNTS
    indptr = open_array(folder / "indptr.npy", np.int64)
    term_ids, counts = (open_array(folder / f"{name}.npy", np.int32) for name in ARRAYS[1:])
    fits = len(indptr) == index.n_documents + 1 and indptr[-1] == len(term_ids) == len(counts)
    if not fits:
        raise ArtifactError(f"{folder} does not fit the index beside it: it was changed or damaged; {REMEDY}")
    rows = open_array(folder / ROWS, np.int64) if index.meta.reordered else None
    found = SegmentCounts(indptr, term_ids, counts, rows)
    manifest = read_manifest(segment)
    if manifest is None:
        raise ArtifactError(f"{segment / MANIFEST} cannot be read; {REMEDY}")

    def validate() -> None:
        validate_counts(folder, found, index)
        validate_vectors(segment, index)

    validate_unless_known(segment, manifest, checksums, validate, COUNTS)
    return found


def validate_counts(folder: Path, found: SegmentCounts, index: Index) -> None:
    """Raise `ArtifactError` unless these are counts of the very postings that the index has, or of as many documents a
    term as it says where it has postings of other words, too."""
    require_pointers(folder / "indptr.npy", found.indptr, index.n_documents, len(found.term_ids))
    require_within(folder / "term_ids.npy", found.term_ids, 0, index.n_terms)
    require_positive(folder / "counts.npy", found.counts)
    if not np.array_equal(np.bincount(found.term_ids, minlength=index.n_terms), index.document_frequency):
        raise wrong(folder / "term_ids.npy", "has other terms than the index beside it")
    if not has_distinct_terms(found.indptr, found.term_ids, index.n_terms):
        raise wrong(folder / "term_ids.npy", "has a document that names a term twice")
    if found.rows is not None:
        require_permutation(folder / ROWS, found.rows, index.n_documents)


def has_distinct_terms(indptr: NDArray[np.int64], term_ids: NDArray[np.int32], n_terms: int) -> bool:
    """Whether no row names a term twice."""
    if worth_loading(DISTINCT * len(term_ids)):
        return bool(are_distinct(indptr, term_ids, n_terms))
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return len(np.unique(rows * n_terms + term_ids)) == len(term_ids)


@compiled
def are_distinct(indptr: NDArray[np.int64], term_ids: NDArray[np.int32], n_terms: int) -> bool:
    """The kernel of `has_distinct_terms`."""
    last_row = np.full(n_terms, -1, np.int64)
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            if last_row[term_ids[at]] == row:
                return False
            last_row[term_ids[at]] = row
    return True


def document_frequency(segments: Sequence[CountedSegment], n_terms: int) -> NDArray[np.int64]:
    """How many living documents hold each term themselves: all of a segment, less the deleted ones."""
    frequency = np.zeros(n_terms, np.int64)
    for segment in segments:
        counts = segment.counts
        frequency[: segment.index.n_terms] += segment.index.document_frequency
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
