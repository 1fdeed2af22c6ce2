"""Exact top-k by inner product over dense vectors, in numpy.

A product in float32 finds who can be among the best; those few are multiplied once more in float64, in which a sum does
not depend on where a row lies. So equal vectors have equal scores, and ties are broken by `doc_id`, as everywhere.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Float64s, Int32s
from lexigraft.core.errors import SettingError, require
from lexigraft.core.types import Ranking
from lexigraft.dense.store import DenseVectors
from lexigraft.search.folding import search_folded

ROWS_AT_ONCE = 1 << 14
SCORES_AT_ONCE = 1 << 24  # of many queries, in float32
UNIT_ROUNDOFF = 2.0**-24  # of float32

Found = tuple[Int32s, Float64s]


class DenseSearcher:
    """Searches the whole of `vectors`, whose rows and whose queries are of unit length."""

    def __init__(self, vectors: DenseVectors) -> None:
        self.vectors = vectors
        # A sum of products of unit vectors is off by at most width x roundoff; of two that are compared, each may be.
        self._slack = 2.1 * (vectors.meta.width + 2) * UNIT_ROUNDOFF

    def search(self, query: Float32s, k: int, query_id: str = "") -> Ranking:
        """The k documents with the highest inner product; one in passages has the score of its best."""
        return self.search_many(query[None], k, [query_id])[0]

    def search_many(self, queries: Float32s, k: int, query_ids: list[str] | None = None) -> list[Ranking]:
        """One ranking for each row of `queries`, in order."""
        if k < 1:
            raise SettingError(f"k = {k} is not allowed: 1 or more")
        width = self.vectors.meta.width
        require(queries.shape[1:] == (width,), "the width of a query", queries.shape[1:], str(width))
        found = (self._best(query, scores, k) for query, scores in self._scored(queries))
        names = query_ids or [""] * len(queries)
        return [
            Ranking(name, tuple(self.vectors.names(rows)), tuple(scores.tolist()))
            for name, (rows, scores) in zip(names, found, strict=True)
        ]

    def _scored(self, queries: Float32s) -> Iterator[tuple[Float32s, Float32s]]:
        """Every query with the products of all rows in float32."""
        queries, n_rows, matrix = np.ascontiguousarray(queries, np.float32), self.vectors.n_rows, self.vectors.matrix
        at_once = max(1, SCORES_AT_ONCE // max(1, n_rows))
        for start in range(0, len(queries), at_once):
            some = queries[start : start + at_once]
            scores = np.empty((len(some), n_rows), np.float32)
            for row in range(0, n_rows, ROWS_AT_ONCE):
                block = np.asarray(matrix[row : row + ROWS_AT_ONCE], np.float32)
                np.matmul(some, block.T, out=scores[:, row : row + ROWS_AT_ONCE])
            yield from zip(some, scores, strict=True)

    def _best(self, query: Float32s, scores: Float32s, k: int) -> Found:
        if not self.vectors.meta.passages:
            return self._best_rows(query, scores, k)
        return search_folded(lambda depth: self._best_rows(query, scores, depth), self.vectors.document_rank, k)

    def _best_rows(self, query: Float32s, scores: Float32s, k: int) -> Found:
        n = len(scores)
        if k < n:
            least = np.partition(scores, n - k)[n - k] - self._slack
            candidates = np.flatnonzero(scores >= least)
        else:
            candidates = np.arange(n)
        exact = exact_products(self.vectors.matrix[candidates], query)
        order = np.lexsort((self.vectors.tie_rank[candidates], -exact))[:k]
        return candidates[order].astype(np.int32), exact[order]


def exact_products(rows: NDArray[np.floating], query: Float32s) -> Float64s:
    """[rows]: products of float32 are exact in float64, and every row is added up in the same way."""
    found: Float64s = np.multiply(rows, query.astype(np.float64), dtype=np.float64).sum(axis=1)
    return found
