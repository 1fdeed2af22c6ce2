"""What a search costs whatever the machine (S5), and what it takes on this one."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Query, SparseMatrix, require_same_vocabulary
from lexigraft.index.store import Index
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.query_encoder import QueryEncoder

MOST_TIMING_NS = 3_000_000_000


class PostingsLengths(NamedTuple):
    """Over all lists of the vocabulary, the empty ones included."""

    mean: float
    var: float
    std: float
    max: int


class Timing(NamedTuple):
    """Mean milliseconds a query, one thread, over all runs; search goes from vector to document ids."""

    ms_encode: float
    ms_search: float
    ms_search_10: float  # for the ten best, as a person asks for


def flops(queries: SparseMatrix, index: Index) -> float:
    """Postings of all distinct query terms / (queries x documents) (vocabulary study, equation 4)."""
    require_same_vocabulary("the queries", queries.vocab_fingerprint, "the index", index.meta.vocab_fingerprint)
    if not queries.n_rows:
        return 0.0
    touched = int(np.diff(index.indptr)[queries.term_ids].sum())
    return touched / (queries.n_rows * index.n_documents)


def postings_lengths(index: Index) -> PostingsLengths:
    lengths = np.diff(index.indptr)
    return PostingsLengths(
        float(lengths.mean()), float(lengths.var()), float(lengths.std()), int(lengths.max(initial=0))
    )


def mean_terms(indptr: NDArray[np.int64]) -> float:
    """L0: the mean number of terms in a row."""
    return float(np.diff(indptr).mean()) if len(indptr) > 1 else 0.0


def time_queries(
    queries: Sequence[Query], encoder: QueryEncoder, searcher: Searcher, k: int, keep: int, runs: int
) -> Timing:
    """From text to ranked ids, split into encoding (with pruning to `keep` terms) and search.

    Each goes through all queries `runs` times, or stops after some seconds: what takes so long varies little.
    """
    rows = (encoder.encode(query.text) for query in queries)
    vectors = [prune_rows(np.array([0, len(ids)], np.int64), ids, weights, keep)[1:] for ids, weights in rows]

    def encode(place: int) -> None:
        term_ids, weights = encoder.encode(queries[place].text)
        prune_rows(np.array([0, len(term_ids)], np.int64), term_ids, weights, keep)

    def search(depth: int) -> Callable[[int], object]:
        return lambda place: searcher.search(*vectors[place], depth)

    return Timing(*(_mean_ms(call, len(queries), runs) for call in (encode, search(k), search(10))))


def _mean_ms(call: Callable[[int], object], n_queries: int, runs: int) -> float:
    """Mean milliseconds of call(0), ..., call(n_queries - 1), over `runs` passes or as many calls as time allows."""
    call(0)  # warms caches and compiles kernels
    done, taken = 0, 0
    for place in (place for _ in range(runs) for place in range(n_queries)):
        start = time.perf_counter_ns()
        call(place)
        done, taken = done + 1, taken + time.perf_counter_ns() - start
        if taken > MOST_TIMING_NS:
            break
    return taken * 1e-6 / max(1, done)
