"""What a search costs whatever the machine (S5), and what it takes on this one."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Query, SparseMatrix, require_same_vocabulary
from lexigraft.index.store import Index
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.query_encoder import QueryEncoder


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
    """From text to ranked ids, split into encoding (with pruning to `keep` terms) and search."""
    nanoseconds = np.zeros(3, np.int64)
    for run in range(runs + 1):
        if run == 1:  # the first run warms caches and compiles kernels
            nanoseconds[:] = 0
        for query in queries:
            start = time.perf_counter_ns()
            term_ids, weights = encoder.encode(query.text)
            _, term_ids, weights = prune_rows(np.array([0, len(term_ids)], np.int64), term_ids, weights, keep)
            encoded = time.perf_counter_ns()
            searcher.search(term_ids, weights, k)
            searched = time.perf_counter_ns()
            searcher.search(term_ids, weights, 10)
            nanoseconds += encoded - start, searched - encoded, time.perf_counter_ns() - searched
    return Timing(*(nanoseconds * 1e-6 / max(1, runs * len(queries))).tolist())
