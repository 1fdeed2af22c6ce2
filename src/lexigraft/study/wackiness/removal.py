"""What wacky terms are worth (W3): effectiveness without the wackiest, beside random removals of as many."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix
from lexigraft.explain.removal import Without, cuts_ties, log_scaled, remove_terms, wackiest_first, without_expansion
from lexigraft.explain.wackiness import TermScores, TextTerms
from lexigraft.index.inverted import Index
from lexigraft.measure.ranks import RANK_MEASURES, RankJudge
from lexigraft.search.many import search_many
from lexigraft.search.searcher import Searcher

REPEATS = 10
TIE_DRAWS = 10  # orders of the terms that have the same score


class _Draws(NamedTuple):
    """Several removals of as many terms: the means of RANK_MEASURES of each, and the share of weight that each left."""

    means: NDArray[np.float64]  # [draws, measures]
    weights: NDArray[np.float64]


class _Measurer:
    """Measures the queries without some of their terms; those that lost none are not searched again."""

    def __init__(self, index: Index, queries: SparseMatrix, judge: RankJudge, depth: int, threads: int) -> None:
        self._searcher, self._judge, self._depth, self._threads = Searcher(index), judge, depth, threads
        self._whole = judge.measure(search_many(self._searcher, queries, depth, threads))

    def means(self, left: Without | None = None) -> NDArray[np.float64]:
        """The mean of each of RANK_MEASURES; of the whole queries where `left` is None."""
        values = self._whole
        if left is not None and left.changed.any():
            rows = np.flatnonzero(left.changed)
            values = values.copy()
            values[rows] = self._judge.measure(
                search_many(self._searcher, left.matrix, self._depth, self._threads, rows), rows
            )
        means: NDArray[np.float64] = values.mean(axis=0)
        return means


def removal_curves(
    index: Index,
    queries: SparseMatrix,
    own: TextTerms,
    judged: dict[str, dict[str, int]],
    scores: TermScores,
    seed: int,
    threads: int,
    depth: int = 1000,
    repeats: int = REPEATS,
    tie_draws: int = TIE_DRAWS,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Effectiveness of `queries` without the N wackiest of the terms that have a score, for log-scaled N, and without N
    drawn uniformly from them, `repeats` times; terms that a query's text holds stay. As JSON: by measure, lists over
    `removed`; `weight_*` is the share of the queries' weight that stayed.

    Where the N wackiest are some of many with the same score, they are drawn `tie_draws` times: `wacky` is the first
    draw, `wacky_mean`, `wacky_std`, `wacky_min` and `wacky_max` are over all of them, and `cuts_ties` says where that
    was so."""
    judge = RankJudge(index, queries.row_ids, judged)
    measurer = _Measurer(index, queries, judge, depth, threads)
    steps = log_scaled(len(scores.seen))
    orders = [wackiest_first(scores, seed, draw) for draw in range(tie_draws)]
    order, tied = orders[0], [cuts_ties(scores, n) for n in steps]

    def measured(chosen: Iterable[NDArray[np.int64]]) -> _Draws:
        lefts = (remove_terms(queries, own, terms) for terms in chosen)
        means, weights = zip(*((measurer.means(left), left.weight) for left in lefts), strict=True)
        return _Draws(np.array(means), np.array(weights))

    wacky, drawn = list[_Draws](), list[_Draws]()
    for n, by_draw in progress.track(list(zip(steps, tied, strict=True)), "removing terms", len(steps)):
        wacky.append(measured(one[:n] for one in (orders if by_draw else orders[:1])))
        # Without all of them there is nothing to draw.
        draws = range(repeats if n < len(order) else 1)
        drawn.append(measured(np.random.default_rng((seed, n, draw)).permutation(order)[:n] for draw in draws))
    names = [name for name in RANK_MEASURES if int(name.partition("@")[2]) <= depth]
    bare = without_expansion(queries, own)
    whole, none = measurer.means(), measurer.means(bare)
    return {
        "queries": queries.n_rows,
        "terms": len(order),
        "repeats": repeats,
        "tie_draws": tie_draws,
        "removed": steps,
        "cuts_ties": tied,
        "measures": {
            name: {
                "full": float(whole[place]),
                "none": float(none[place]),
                "wacky": [float(some.means[0, place]) for some in wacky],
                "wacky_mean": [float(some.means[:, place].mean()) for some in wacky],
                "wacky_std": [_std(some.means[:, place]) for some in wacky],
                "wacky_min": [float(some.means[:, place].min()) for some in wacky],
                "wacky_max": [float(some.means[:, place].max()) for some in wacky],
                "random": [float(some.means[:, place].mean()) for some in drawn],
                "random_std": [_std(some.means[:, place]) for some in drawn],
            }
            for place, name in enumerate(RANK_MEASURES)
            if name in names
        },
        "weight_none": bare.weight,
        "weight_wacky": [float(some.weights[0]) for some in wacky],
        "weight_wacky_mean": [float(some.weights.mean()) for some in wacky],
        "weight_random": [float(some.weights.mean()) for some in drawn],
    }


def _std(values: NDArray[np.float64]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
