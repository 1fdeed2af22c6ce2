"""The searcher: checks a query vector, runs one method over the index, and names the documents.

Kernels hold no lock and no state of their own, so a batch runs on as many threads as it is given, each with its own
scratch memory.
"""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import are_loaded, worth_loading
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import SEARCH_METHODS
from lexigraft.core.types import Ranking, SparseMatrix, require_same_vocabulary
from lexigraft.index.codec import PAD, padded
from lexigraft.index.inverted import Index
from lexigraft.search.answer import AUTO, SWEEP, TOUCHED, answer, are_terms, unpack
from lexigraft.search.batch import answer_all
from lexigraft.search.blockmax_wand import search_blockmax_wand
from lexigraft.search.by_numpy import precise_by_numpy, search_by_numpy, work_of
from lexigraft.search.counters import COUNTERS, DOCUMENTS, NEXT, SCORE
from lexigraft.search.exhaustive import search_exhaustive
from lexigraft.search.folding import search_folded
from lexigraft.search.lists import lists_of
from lexigraft.search.maxscore import search_maxscore
from lexigraft.search.precise import precise_scores, search_precise
from lexigraft.search.searching import INT32, Allowed, Searching, narrowed_terms, outside_vocabulary
from lexigraft.search.topk import MANY, buffer_size
from lexigraft.vectors.quantize import adds_up_in_32_bits, quantize_query

METHODS = SEARCH_METHODS
HEAP_METHODS: dict[str, Callable[..., int]] = {
    "exhaustive": search_exhaustive,
    "maxscore": search_maxscore,
    "blockmax_wand": search_blockmax_wand,
}
Memory = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]


class Searcher(Searching):
    """Exact top-k over one index; every method returns the same ranking."""

    def __init__(self, index: Index, method: str = "auto") -> None:
        if method not in METHODS:
            raise SettingError(f"search method {method!r} is not known; one of {', '.join(METHODS)}")
        self.index, self.method = index, method
        self._scratch = threading.local()
        self._choice = {"sweep": SWEEP, "touched": TOUCHED}.get(method, AUTO)
        self._lists = lists_of(index)
        self._range = min(padded(index.meta.range_size), padded(index.n_documents))

    @cached_property
    def _arrays(self) -> tuple[tuple[Any, ...], NDArray[np.int32], float]:
        """What the kernel reads: a plain tuple, see `Lists`."""
        return tuple(self._lists), self.index.ordinal_of_rank, self.index.meta.scale

    def search_ordinals(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Allowed | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(rows, scores) of the k documents with the largest dot product, ties by `doc_id`; only those that share a
        term. A document cut into passages has the score of its best one, and its row. `allowed`, one byte a row, says
        which rows may be found (0: not); `counts`, one number for each of `COUNTERS`, is added to."""
        if k < 1:
            raise SettingError(f"k = {k} is not allowed: 1 or more")
        if self.index.meta.passages:
            rank = self.index.document_rank
            return search_folded(lambda depth: self._rows(term_ids, weights, depth, allowed, counts), rank, k)
        return self._rows(term_ids, weights, k, allowed, counts)

    def _rows(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Allowed | None,
        counts: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        if getattr(term_ids, "dtype", None) is not INT32:  # a cast alone would make 2**32 term 0
            term_ids = narrowed_terms(term_ids, self.index.n_terms)
        terms, amounts = np.ascontiguousarray(term_ids, np.int32), np.ascontiguousarray(weights, np.float32)
        if len(terms) != len(amounts):
            raise InputError(f"a query of {len(terms)} terms has {len(amounts)} weights")
        if allowed is not None and len(allowed) != self.index.n_documents:
            raise InputError(f"{len(allowed)} flags of what may be found, for {self.index.n_documents} documents")
        k = min(k, self.index.n_documents)
        if k == 0:
            self._require_query(terms, amounts)
            return np.zeros(0, np.int32), np.zeros(0, np.float64)
        without_kernels = not are_loaded() and self._can_do_without(terms, counts)
        if without_kernels or self.index.meta.bits == 24 or self.method in HEAP_METHODS:
            return self._slow(terms, amounts, k, allowed, counts, without_kernels)
        memory = self._memory(k)
        try:
            size, scale, ordinals, scores = answer(
                *self._arrays, terms, amounts, k, self._choice, *memory, allowed, counts
            )  # fmt: skip
        except BaseException:
            del self._scratch.memory  # its accumulators may not be 0, as the next query expects them
            raise
        if size < 0:
            return self._slow(terms, amounts, k, allowed, counts)  # or the error that says what is wrong
        if k <= MANY:
            return ordinals, scores
        found = memory[0][:size]
        found.sort()  # numpy's sort is several times as fast as one in compiled code
        return unpack(found[-k:], self.index.ordinal_of_rank, scale)

    def _can_do_without(self, terms: NDArray[np.int32], counts: NDArray[np.int64] | None) -> bool:
        """Whether numpy answers before kernels would be loaded; a method that was asked for by name is not replaced."""
        return self.method == "auto" and counts is None and not worth_loading(work_of(self.index, terms))

    def _slow(
        self,
        terms: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Allowed | None,
        counts: NDArray[np.int64] | None,
        without_kernels: bool = False,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Methods that are there to compare with, a single question, and scores that need 64 bits."""
        index, meta = self.index, self.index.meta
        integers, query_scale = self._require_query(terms, weights)
        if not adds_up_in_32_bits(int(integers.sum(dtype=np.int64)), meta.bits):
            if without_kernels:
                totals = precise_by_numpy(index, terms, integers, allowed)
            else:
                totals = np.zeros(index.n_documents, np.int64)
                precise_scores(self._lists, terms, integers, allowed, totals)
            if counts is not None:
                n_postings = index.lengths[terms].sum()
                counts[NEXT] += n_postings
                counts[SCORE] += n_postings
                counts[DOCUMENTS] += np.count_nonzero(totals)
            best, scores = search_precise(totals, index.tie_rank, k)
            return best.astype(np.int32), scores.astype(np.float64) * (query_scale * meta.scale)
        if without_kernels:
            return search_by_numpy(index, terms, integers, k, allowed, query_scale * meta.scale)
        heap = np.empty(k, np.int64)
        size = HEAP_METHODS[self.method](self._lists, terms, integers, heap, allowed, counts)
        return unpack(np.sort(heap[:size]), index.ordinal_of_rank, query_scale * meta.scale)

    def count(self, queries: SparseMatrix, k: int) -> dict[str, float]:
        """What a search of each query does on average (S5)."""
        counts = np.zeros(len(COUNTERS), np.int64)
        for row in range(queries.n_rows):
            self.search_ordinals(*queries.row(row), k, counts=counts)
        return dict(zip(COUNTERS, (counts / max(1, queries.n_rows)).tolist(), strict=True))

    def search_batch(self, queries: SparseMatrix, k: int, threads: int = 0) -> list[Ranking]:
        """One ranking per row of `queries`, in order, found by so many threads (0: one for each core)."""
        require_same_vocabulary(
            "the queries", queries.vocab_fingerprint, "the index", self.index.meta.vocab_fingerprint
        )

        def one(row: int) -> Ranking:
            return self.search(*queries.row(row), k, queries.row_ids[row])

        return answer_all(one, queries.n_rows, threads)

    def _require_query(self, terms: NDArray[np.int32], weights: NDArray[np.float32]) -> tuple[NDArray[np.int32], float]:
        """The weights as integers, and their scale; raises `InputError` saying what is wrong with a query."""
        quantized = quantize_query(weights, self.index.meta.bits)
        if len(terms) and not _are_terms(terms, self.index.n_terms):
            if not 0 <= terms.min() <= terms.max() < self.index.n_terms:
                raise outside_vocabulary(self.index.n_terms)
            raise InputError("the query names a term twice; add its weights up first")
        return quantized

    def _memory(self, k: int) -> Memory:
        """A thread's own: room for the best keys, accumulators, all 0, and room for the places a query touches."""
        scratch: Any = self._scratch
        memory: Memory | None = getattr(scratch, "memory", None)
        size = buffer_size(k)
        if memory is None or len(memory[0]) != size:
            width = self._range + PAD
            kept = (np.zeros(width, np.int32), np.empty(width, np.uint16)) if memory is None else memory[1:]
            scratch.memory = memory = (np.empty(size, np.int64), *kept)
        return memory


def _are_terms(terms: NDArray[np.int32], n_terms: int) -> bool:
    if worth_loading(len(terms)):
        return are_terms(terms, n_terms)
    return bool(0 <= terms.min() <= terms.max() < n_terms) and len(set(terms.tolist())) == len(terms)
