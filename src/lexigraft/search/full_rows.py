"""The full vectors of an index's rows, wherever they lie: in stores of vectors, in another index, or in the index
itself. A second pass scores candidates by them.

Rows are found by id. One store in the order of the index, which is nearly always what there is, is compared row by row
as rows are asked for; anything else is looked up for all rows at once, the first time.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import taken
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import SparseMatrix
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import Segment
from lexigraft.index.rows import iterate_rows

Ordinals = NDArray[np.int32] | NDArray[np.int64]
RowScores = Callable[[NDArray[np.int32], NDArray[np.float64]], NDArray[np.float64]]  # of rows of an index and a query
NOWHERE = -1


class Source(Protocol):
    """A table of vectors that has an id for every row; `living`, one byte a row, has 0 for those that do not count."""

    @property
    def row_ids(self) -> Sequence[str]: ...

    @property
    def living(self) -> NDArray[np.uint8] | None: ...

    def scores(self, rows: Ordinals, query: NDArray[np.float64]) -> NDArray[np.float64]:
        """The dot products of rows with `query`, which has a number for every term."""
        ...


class VectorSource:
    """Vectors as the encoder wrote them."""

    def __init__(self, matrix: SparseMatrix) -> None:
        self.row_ids = matrix.row_ids
        self.living: NDArray[np.uint8] | None = None
        self._arrays = matrix.indptr, matrix.term_ids, matrix.weights

    def scores(self, rows: Ordinals, query: NDArray[np.float64]) -> NDArray[np.float64]:
        return dot_rows(*self._arrays, rows.astype(np.int64), query)


class IndexSource:
    """The rows of an index: impacts times its scale. Read once as a whole, and then held: five bytes a posting."""

    def __init__(self, segment: Segment) -> None:
        self.row_ids, self.living = segment.index.doc_ids, segment.allowed
        self._index = segment.index

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        """(indptr, term ids, impacts) of the whole index, put together from its ranges."""
        meta = self._index.meta
        indptr, term_ids = np.zeros(meta.n_documents + 1, np.int64), np.empty(meta.n_postings, np.int32)
        impacts: NDArray[Any] = np.empty(meta.n_postings, np.uint8 if meta.bits == 8 else np.uint32)
        done = 0
        for start in range(0, meta.n_documents, meta.range_size):
            part = iterate_rows(self._index, start, min(start + meta.range_size, meta.n_documents))
            indptr[start + 1 : start + len(part.indptr)] = part.indptr[1:] + done
            term_ids[done : done + len(part.term_ids)] = part.term_ids
            impacts[done : done + len(part.impacts)] = part.impacts
            done += len(part.term_ids)
        return indptr, term_ids, impacts

    def scores(self, rows: Ordinals, query: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of impacts first, then the scale: a query of whole numbers has the very scores of a search."""
        return dot_rows(*self._rows, rows.astype(np.int64), query) * self._index.meta.scale


class FoundRows:
    """Where the rows of several indexes lie in several sources; a later source replaces what an earlier one has of the
    same id. `remedy` says what to do about a row that is in none of them."""

    def __init__(self, indexes: Sequence[Index], sources: Sequence[Source], remedy: str) -> None:
        self._indexes, self._sources, self._remedy = indexes, sources, remedy
        self._starts = np.cumsum([0, *(len(source.row_ids) for source in sources)])  # rows are numbered through
        only = sources[0] if len(sources) == 1 else None
        self._in_order = [
            only is not None and only.living is None and len(only.row_ids) == index.n_documents for index in indexes
        ]
        self._checked = [np.zeros(index.n_documents, bool) for index in indexes]

    def scores(self, number: int, ordinals: NDArray[np.int32], query: NDArray[np.float64]) -> NDArray[np.float64]:
        """The dot products of rows of index `number` with `query`. Raises `ArtifactError` for a row that is nowhere."""
        if self._same_order(number, ordinals):
            return self._sources[0].scores(ordinals, query)
        found = self._rows[number][ordinals]
        if len(lost := np.flatnonzero(found == NOWHERE)):
            row_id = self._indexes[number].doc_ids[int(ordinals[lost[0]])]
            raise ArtifactError(f"there is no full vector of {row_id!r}, which a first pass found; {self._remedy}")
        totals = np.zeros(len(found), np.float64)
        which = np.searchsorted(self._starts, found, "right") - 1
        for at, source in enumerate(self._sources):
            if (of_source := which == at).any():
                totals[of_source] = source.scores(found[of_source] - self._starts[at], query)
        return totals

    def _same_order(self, number: int, ordinals: NDArray[np.int32]) -> bool:
        """Whether the only source has the same ids in the same places, as far as these rows tell."""
        if self._in_order[number]:
            new = ordinals[~self._checked[number][ordinals]]  # strings are slow: each row is looked at once
            if len(new) and self._indexes[number].doc_ids.take(new) != taken(self._sources[0].row_ids, new):
                self._in_order[number] = False
            else:
                self._checked[number][new] = True
        return self._in_order[number]

    @cached_property
    def _rows(self) -> list[NDArray[np.int64]]:
        """For each row of each index, which row it is of all that the sources have."""
        row_of: dict[str, int] = {}
        for start, source in zip(self._starts.tolist(), self._sources, strict=False):
            for row, row_id in enumerate(source.row_ids, start):
                if source.living is None or source.living[row - start]:
                    row_of[row_id] = row
        return [
            np.fromiter((row_of.get(row_id, NOWHERE) for row_id in index.doc_ids), np.int64, index.n_documents)
            for index in self._indexes
        ]


def dense_query(n_terms: int, term_ids: NDArray[np.int32], weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """A query as a number for every term."""
    query = np.zeros(n_terms, np.float64)
    query[term_ids] = weights
    return query


@compiled
def dot_rows(
    indptr: NDArray[np.int64],
    term_ids: NDArray[np.int32],
    weights: NDArray[Any],
    rows: NDArray[np.int64],
    query: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The dot product of each of the rows with `query`, which has a number for every term, added up by term id."""
    scores = np.zeros(len(rows), np.float64)
    for i in range(len(rows)):
        total = 0.0
        for at in range(indptr[rows[i]], indptr[rows[i] + 1]):
            total += np.float64(weights[at]) * query[np.uint32(term_ids[at])]
        scores[i] = total
    return scores
