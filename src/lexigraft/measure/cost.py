"""What a search costs whatever the machine (S5), and what it takes on this one."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import SparseMatrix, require_same_vocabulary
from lexigraft.index.inverted import Index
from lexigraft.measure.speed import time_within
from lexigraft.search.searching import Searching
from lexigraft.vectors.query_encoder import Row


class PostingsLengths(NamedTuple):
    """Over all lists of the vocabulary, the empty ones included."""

    mean: float
    var: float
    std: float
    max: int


class Timing(NamedTuple):
    """Mean milliseconds a query, one thread, over all runs, from vector to document ids."""

    ms_search: float
    ms_search_10: float  # for the ten best, as a person asks for


def flops(queries: SparseMatrix, index: Index) -> float:
    """Postings of all distinct query terms / (queries x documents) (vocabulary study, equation 4)."""
    return _touched(queries, index) / max(1, queries.n_rows * index.n_documents)


def postings_per_query(queries: SparseMatrix, index: Index) -> float:
    """The lengths of a query's lists added up, on average."""
    return _touched(queries, index) / max(1, queries.n_rows)


def _touched(queries: SparseMatrix, index: Index) -> int:
    require_same_vocabulary("the queries", queries.vocab_fingerprint, "the index", index.meta.vocab_fingerprint)
    return int(index.lengths[queries.term_ids].sum())


def postings_lengths(index: Index) -> PostingsLengths:
    lengths = index.lengths
    return PostingsLengths(
        float(lengths.mean()), float(lengths.var()), float(lengths.std()), int(lengths.max(initial=0))
    )


def mean_terms(indptr: NDArray[np.int64]) -> float:
    """L0: the mean number of terms in a row."""
    return float(np.diff(indptr).mean()) if len(indptr) > 1 else 0.0


def time_searches(vectors: Sequence[Row], searcher: Searching, k: int, runs: int) -> Timing:
    """Searches of vectors (term ids, weights), for the k best and for ten."""

    def milliseconds(depth: int) -> float:
        return mean_ms(lambda place: searcher.search(*vectors[place], depth), len(vectors), runs)

    return Timing(milliseconds(k), milliseconds(10))


def mean_ms(call: Callable[[int], object], n_queries: int, runs: int) -> float:
    """Mean milliseconds of call(0), ..., call(n_queries - 1), as `time_within` measures them."""
    return time_within(call, n_queries, runs).mean
