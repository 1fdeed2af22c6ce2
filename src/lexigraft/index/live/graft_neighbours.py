"""Who lends words to the documents of one segment: its own documents, and the living ones of all other segments.

Rows of the segment are numbered from 0 in the order in which they were added; those of the others follow, and only
those that lend something are read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array
from lexigraft.core.progress import SILENT, Progress
from lexigraft.grafted.neighbours import Neighbours, nearest, nearest_to
from lexigraft.index.live.counts import CountedSegment
from lexigraft.vectors.counted_texts import ARRAYS, CountedRows
from lexigraft.vectors.rows_writer import COUNTS, RowsWriter
from lexigraft.vectors.store import row_ranges


class Lending(NamedTuple):
    """The counted rows of a segment and, after them, of all others that lend to one of these; and the `neighbours` of
    the segment's own among them."""

    rows: CountedRows
    neighbours: Neighbours


def find_lending(
    own: CountedRows, vectors: NDArray[np.floating], others: Sequence[CountedSegment], k: int, folder: Path,
    progress: Progress = SILENT,
) -> Lending:  # fmt: skip
    """The nearest `k` of each of the segment's `own` rows, whose vectors are given. What is read of `others` is written
    into `folder`."""
    found, first = nearest(vectors, k, progress), own.n_rows
    living = [np.flatnonzero(one.counts.living(one.allowed)) for one in others]
    for segment, rows in zip(others, living, strict=True):
        if len(rows):
            assert segment.vectors is not None, "all segments of a grafted live index have vectors"
            theirs = segment.vectors if len(rows) == len(segment.vectors) else segment.vectors[rows]
            found = nearer(found, nearest_to(vectors, theirs, k, progress), first)
            first += len(rows)
    lent = np.unique(found.rows[found.rows >= own.n_rows])
    if not len(lent):
        return Lending(own, found)
    numbers = np.full(first, -1, np.int32)
    numbers[: own.n_rows] = np.arange(own.n_rows)
    numbers[lent] = own.n_rows + np.arange(len(lent), dtype=np.int32)
    renumbered = np.where(found.rows >= 0, numbers[found.rows], -1).astype(np.int32)
    return Lending(_with_lent(own, others, living, lent - own.n_rows, folder), Neighbours(renumbered, found.cosines))


def nearer(one: Neighbours, other: Neighbours, first: int) -> Neighbours:
    """The nearest of both, as many as of each; rows of `other` are numbered from `first` on, behind those of `one`."""
    k = one.rows.shape[1]
    rows = np.concatenate((one.rows, np.where(other.rows >= 0, other.rows + first, -1)), axis=1)
    cosines = np.concatenate((one.cosines, other.cosines), axis=1)
    order = np.argsort(np.where(rows >= 0, -cosines, np.inf), axis=1, kind="stable")[:, :k]  # equal ones by number
    return Neighbours(
        np.take_along_axis(rows, order, axis=1).astype(np.int32), np.take_along_axis(cosines, order, axis=1)
    )


def _with_lent(
    own: CountedRows,
    others: Sequence[CountedSegment],
    living: Sequence[NDArray[np.int64]],
    lent: NDArray[np.integer],
    folder: Path,
) -> CountedRows:
    """`own` rows, and the `lent` ones among the `living` rows of the others, ascending."""
    folder.mkdir()
    with RowsWriter(folder, COUNTS) as writer:
        for start, end in row_ranges(own.indptr):
            span = slice(own.indptr[start], own.indptr[end])
            writer.append_rows(
                own.indptr[start + 1 : end + 1] - own.indptr[start], own.term_ids[span], own.counts[span]
            )
        first = 0
        for segment, rows in zip(others, living, strict=True):
            here = lent[(lent >= first) & (lent < first + len(rows))] - first
            for ends, term_ids, counts in _counts_of(segment, rows[here]):
                writer.append_rows(ends, term_ids, counts)
            first += len(rows)
        n_rows = writer.n_rows
    indptr, term_ids, counts = (open_array(folder / f"{name}.npy") for name in ARRAYS)
    names = [""] * n_rows  # nobody asks
    return CountedRows(folder, names, names, indptr, term_ids, counts, own.vocabulary)


def _counts_of(
    segment: CountedSegment, rows: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]]:
    """(end, term ids, counts) of some rows, one after the other."""
    counts = segment.counts
    for row in rows.tolist():
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        yield np.array([counts.indptr[row + 1] - counts.indptr[row]]), counts.term_ids[span], counts.counts[span]
