"""The searcher: checks a query vector, runs one method over the index, and names the documents.

Kernels hold no lock and no state of their own, so a batch runs on as many threads as it is given, each with its own
scratch memory.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking, SparseMatrix, require_same_vocabulary
from lexigraft.index.store import Index
from lexigraft.search.exhaustive import search_exhaustive
from lexigraft.search.folding import search_folded
from lexigraft.search.maxscore import WINDOW, search_maxscore
from lexigraft.search.topk import ranked
from lexigraft.vectors.quantize import quantize_query

METHODS: dict[str, Callable[..., int]] = {"exhaustive": search_exhaustive, "maxscore": search_maxscore}


class Searcher:
    """Exact top-k over one index; every method returns the same ranking."""

    def __init__(self, index: Index, method: str = "maxscore") -> None:
        if method not in METHODS:
            raise SettingError(f"search method {method!r} is not known; one of {', '.join(METHODS)}")
        self.index = index
        self._kernel = METHODS[method]
        self._n_accumulators = index.n_documents if method == "exhaustive" else min(WINDOW, index.n_documents)
        self._scratch = threading.local()
        self._lists = (index.indptr, index.doc_ordinals, index.impacts, index.list_max, index.tie_rank)

    def search(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, query_id: str = "") -> Ranking:
        """The k documents with the largest dot product, ties by `doc_id`; only those that share a term. A document cut
        into passages has the score of its best one."""
        ordinals, scores = self.search_ordinals(term_ids, weights, k)
        return Ranking(query_id, tuple(self.index.names(ordinals)), tuple(scores.tolist()))

    def search_ordinals(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: NDArray[np.uint8] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The same as internal ordinals and scores, without making strings. `allowed`: one byte a document; those with
        0 are not returned."""
        if k < 1:
            raise SettingError(f"k = {k} is not allowed: 1 or more")
        if self.index.meta.passages:
            rank = self.index.document_rank
            return search_folded(lambda depth: self._allowed_rows(term_ids, weights, depth, allowed), rank, k)
        return self._allowed_rows(term_ids, weights, k, allowed)

    def _allowed_rows(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, allowed: NDArray[np.uint8] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        if allowed is None:
            return self._rows(term_ids, weights, k)
        ordinals, scores = self._rows(term_ids, weights, k + int(np.count_nonzero(allowed == 0)))
        kept = np.flatnonzero(allowed[ordinals])[:k]
        return ordinals[kept], scores[kept]

    def _rows(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        terms = np.ascontiguousarray(term_ids, np.int32)
        self._check_terms(terms)
        integers, query_scale = quantize_query(np.asarray(weights, np.float32))
        heap = np.empty(min(k, self.index.n_documents), np.int64)
        size = self._kernel(*self._lists, terms, integers, heap, self._accumulators())
        ranks, scores = ranked(heap, size)
        scale = np.float64(query_scale * self.index.meta.scale)
        return self.index.ordinal_of_rank[ranks], scores.astype(np.float64) * scale

    def search_batch(self, queries: SparseMatrix, k: int, threads: int = 1) -> list[Ranking]:
        """One ranking per row of `queries`, in order."""
        require_same_vocabulary(
            "the queries", queries.vocab_fingerprint, "the index", self.index.meta.vocab_fingerprint
        )

        def one(row: int) -> Ranking:
            return self.search(*queries.row(row), k, queries.row_ids[row])

        return self._map(one, range(queries.n_rows), threads)

    @staticmethod
    def _map(function: Callable[[int], Ranking], rows: Sequence[int], threads: int) -> list[Ranking]:
        if threads == 1:
            return [function(row) for row in rows]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, rows))

    def _check_terms(self, term_ids: NDArray[np.int32]) -> None:
        ascending = sorted(term_ids.tolist())  # quicker than numpy on the few terms of a query
        if ascending and not 0 <= ascending[0] <= ascending[-1] < self.index.n_terms:
            raise InputError(f"the query has a term id outside the index's vocabulary of {self.index.n_terms} terms")
        if len(set(ascending)) != len(ascending):
            raise InputError("the query names a term twice; add its weights up first")

    def _accumulators(self) -> NDArray[np.int32]:
        if not hasattr(self._scratch, "accumulators"):
            self._scratch.accumulators = np.zeros(self._n_accumulators, np.int32)
        accumulators: NDArray[np.int32] = self._scratch.accumulators
        return accumulators
