"""The prunings that a cost pays for, and what they are worth: of every qk, the largest dk that costs no more, as a
number of terms, in hundredths of a document's mass, or both.

Nothing is indexed. Documents are read in chunks: a first pass adds up what every dk costs, from the ranks of
all weights within their rows; two more score the queries against the few prunings that are left. Weights are not
quantised, so that what is measured here differs a little from what an index of 8 bits gives.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.first_relevant import best_relevant, count_ahead, inverted
from lexigraft.core.arrays import release_pages
from lexigraft.core.cut import DocumentCut, QueryCut, mass_cut, mass_of
from lexigraft.core.types import SparseMatrix
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import row_ranges
from lexigraft.vectors.weight_ranks import HUNDREDTHS, mass_ranks, weight_ranks

QUERY_SHARES = (0.3, 0.4, 0.5, 0.6, 0.7)  # of the heaviest weight
QUERY_CUTS = (*QUERY_SHARES, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96)  # that are looked at, beside all
QUERY_MASSES = ("m0.4", "m0.5", "m0.6", "m0.7", "m0.8", "m0.9")  # and these, where documents are cut by mass
COUNT, MASS, BOTH = "count", "mass", "both"  # what `prune.by` may be
DEPTH = 10

Ranking = Callable[[NDArray[np.int64], NDArray[np.float32]], NDArray[np.int32]]


class Affordable(NamedTuple):
    """A pruning (see `core.cut`), what it costs in FLOPS, and its MRR@10."""

    qk: QueryCut
    dk: DocumentCut
    flops: float
    mrr: float


class Asked(NamedTuple):
    """Queries and the rows of the documents that are relevant to each."""

    queries: SparseMatrix
    relevant: Sequence[NDArray[np.int64]]


class _Chunk(NamedTuple):
    first: int
    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    ranks: NDArray[np.int32]


def query_cuts_of(by: str) -> tuple[QueryCut, ...]:
    """The cuts of queries that are looked at where documents are cut by counts, by mass or by both."""
    return QUERY_CUTS if by == COUNT else (*QUERY_CUTS, *QUERY_MASSES)


def affordable_prunings(
    asked: Asked, documents: SparseMatrix, limit: float, query_cuts: Sequence[QueryCut] = QUERY_CUTS, by: str = COUNT
) -> tuple[list[Affordable], float]:
    """(one pruning, or with both one by count and one by mass, for each cut of queries for which some cost no more than
    `limit`, with its MRR@10; what the cheapest costs that was looked at). There is none where even that one, a single
    term a document, costs more."""
    (found,), cheapest = affordable_within(asked, documents, [limit], query_cuts, by)
    return found, cheapest


def affordable_within(
    asked: Asked,
    documents: SparseMatrix,
    limits: Sequence[float],
    query_cuts: Sequence[QueryCut] = QUERY_CUTS,
    by: str = COUNT,
) -> tuple[list[list[Affordable]], float]:
    """`affordable_prunings` within each of several limits; what the cheapest costs is the same for all."""
    most = int(np.diff(asked.queries.indptr).max(initial=0))
    cut = {qk: prune(asked.queries, qk) for qk in (*(qk for qk in query_cuts if _cuts(qk, most)), 0)}
    found: list[dict[tuple[QueryCut, DocumentCut], float]] = [{} for _ in limits]
    cheapest = float("inf")
    for by_mass in _kinds(by):
        costs = pruning_costs(list(cut.values()), documents, by_mass)
        cheapest = min([cheapest, *(float(of_dk[0]) for of_dk in costs if len(of_dk))])
        for qk, of_dk in zip(cut, costs, strict=True):
            for within, limit in zip(found, limits, strict=True):
                n = int(np.searchsorted(of_dk, limit, side="right"))  # of_dk[i] is what i + 1 terms or hundredths cost
                if n:
                    dk = 0 if n == len(of_dk) else mass_cut(n / HUNDREDTHS) if by_mass else n
                    within[qk, dk] = float(of_dk[n - 1])
    prunings = list(dict.fromkeys(pruning for within in found for pruning in within))
    counts = [dk for _, dk in prunings if isinstance(dk, int)]
    if all(counts) and len(counts) == len(prunings):  # what no pruning keeps is not looked at again
        documents = prune(documents, max(counts, default=1))
    worth = mean_reciprocal_ranks(
        [cut[qk] for qk, _ in prunings], [dk for _, dk in prunings], asked.relevant, documents
    )
    mrr = dict(zip(prunings, worth, strict=True))
    cheapest = cheapest if cheapest < float("inf") else 0.0
    return [[Affordable(*one, flops, mrr[one]) for one, flops in within.items()] for within in found], cheapest


def _cuts(qk: QueryCut, longest: int) -> bool:
    """Whether a cut takes anything from queries of so many terms at most."""
    return isinstance(qk, str) or qk < longest


def _kinds(by: str) -> tuple[bool, ...]:
    """Whether documents are cut by mass, of each way that is looked at."""
    return {COUNT: (False,), MASS: (True,), BOTH: (False, True)}[by]


def pruning_costs(
    queries: Sequence[SparseMatrix], documents: SparseMatrix, by_mass: bool = False
) -> list[NDArray[np.float64]]:
    """For each set of queries, the FLOPS with 1, 2, ... terms a document, up to the longest document's; `by_mass`, with
    1, 2, ... hundredths of its mass."""
    counts = [np.bincount(one.term_ids, minlength=one.n_terms).astype(np.float64) for one in queries]
    most = int(np.diff(documents.indptr).max(initial=0))
    most = min(most, 1) * HUNDREDTHS if by_mass else most
    added = [np.zeros(most + 1) for _ in queries]
    for chunk in _chunks(documents, mass_ranks if by_mass else weight_ranks):
        for total, count in zip(added, counts, strict=True):
            total += np.bincount(chunk.ranks, weights=count[chunk.term_ids], minlength=most + 1)
    n_pairs = [max(1, one.n_rows * documents.n_rows) for one in queries]
    return [np.cumsum(total)[1:] / pairs for total, pairs in zip(added, n_pairs, strict=True)]


def mean_reciprocal_ranks(
    queries: Sequence[SparseMatrix],
    keeps: Sequence[DocumentCut],
    relevant: Sequence[NDArray[np.int64]],
    documents: SparseMatrix,
) -> list[float]:
    """MRR@10 of each set of queries, which are the same ones cut differently, against documents cut to `keeps`."""
    found = best_ranks(queries, keeps, relevant, documents)
    return [float(reciprocal(ranks).mean()) if len(ranks) else 0.0 for ranks in found]


def reciprocal(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 / rank; 0 where there is none."""
    return np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)


def best_ranks(
    queries: Sequence[SparseMatrix],
    keeps: Sequence[DocumentCut],
    relevant: Sequence[NDArray[np.int64]],
    documents: SparseMatrix,
) -> list[NDArray[np.int64]]:
    """For each set of queries, the rank from 1 to 10 of the first relevant document of each query; 0 where none is so
    high. Equal scores rank by document id, as in a search. Masses are whole hundredths."""
    found: list[NDArray[np.int64]] = [np.zeros(0, np.int64) for _ in keeps]
    for rank in (weight_ranks, mass_ranks):
        places = [at for at, keep in enumerate(keeps) if isinstance(keep, str) == (rank is mass_ranks)]
        most_of = [_as_rank(keeps[at]) for at in places]
        ranks = _best_ranks([queries[at] for at in places], most_of, relevant, documents, rank) if places else []
        for at, of_one in zip(places, ranks, strict=True):
            found[at] = of_one
    return found


def _as_rank(keep: DocumentCut) -> int:
    """The largest rank that is kept: a number of terms, or hundredths of the mass."""
    return round(HUNDREDTHS * float(mass_of(keep) or 0)) if isinstance(keep, str) else keep


def _best_ranks(
    queries: Sequence[SparseMatrix],
    keeps: Sequence[int],
    relevant: Sequence[NDArray[np.int64]],
    documents: SparseMatrix,
    rank: Ranking,
) -> list[NDArray[np.int64]]:
    order = np.empty(documents.n_rows, np.int64)
    order[sorted(range(documents.n_rows), key=documents.row_ids.__getitem__)] = np.arange(documents.n_rows)
    wanted = np.repeat(np.arange(len(relevant)), [len(of) for of in relevant])
    rows = np.concatenate([np.zeros(0, np.int64), *relevant])
    of_queries = [(np.asarray(one.indptr), np.asarray(one.term_ids), np.asarray(one.weights)) for one in queries]
    best = [np.zeros(len(relevant), np.float32) for _ in queries]  # score of the best relevant document
    place = [np.full(len(relevant), documents.n_rows, np.int64) for _ in queries]  # and its place among the ids
    ahead = [np.zeros(len(relevant), np.int64) for _ in queries]
    for chunk in _chunks(documents, rank if any(keeps) else None):
        for at, keep in enumerate(keeps):
            best_relevant(*of_queries[at], wanted, rows, chunk.first, chunk.indptr, chunk.term_ids, chunk.weights,
                          chunk.ranks, keep, order, best[at], place[at])  # fmt: skip
    for chunk in _chunks(documents, rank if any(keeps) else None):
        for keep in dict.fromkeys(keeps):
            lists = inverted(*chunk[1:], keep, documents.n_terms)
            for at in (at for at, of_one in enumerate(keeps) if of_one == keep):
                count_ahead(*of_queries[at], chunk.first, len(chunk.indptr) - 1, *lists, order, best[at], place[at],
                            ahead[at], DEPTH)  # fmt: skip
    return [
        np.where((of_one > 0) & (before < DEPTH), before + 1, 0) for of_one, before in zip(best, ahead, strict=True)
    ]


def _chunks(documents: SparseMatrix, rank: Ranking | None) -> Iterator[_Chunk]:
    """Rows of documents, some at a time, with the ranks of their weights; where all are kept (None), without."""
    for start, end in row_ranges(documents.indptr):
        span = slice(int(documents.indptr[start]), int(documents.indptr[end]))
        indptr = documents.indptr[start : end + 1] - documents.indptr[start]
        weights = np.asarray(documents.weights[span])
        ranks = np.zeros(0, np.int32) if rank is None else rank(indptr, weights)
        yield _Chunk(start, indptr, np.asarray(documents.term_ids[span]), weights, ranks)
        release_pages(documents.term_ids, documents.weights)
