"""What wacky terms are worth (W3): effectiveness without the wackiest, beside random removals of as many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix
from lexigraft.explain.removal import Without, log_scaled, remove_terms, wackiest_first, without_expansion
from lexigraft.explain.wackiness import TermScores, TextTerms
from lexigraft.index.inverted import Index
from lexigraft.measure.ranks import RANK_MEASURES, RankJudge
from lexigraft.search.many import search_many
from lexigraft.search.searcher import Searcher

REPEATS = 10


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
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Effectiveness of `queries` without the N wackiest of the terms that have a score, for log-scaled N, and without N
    drawn uniformly from them, `repeats` times; terms that a query's text holds stay. As JSON: by measure, lists over
    `removed`; `weight_*` is the share of the queries' weight that stayed."""
    judge = RankJudge(index, queries.row_ids, judged)
    measurer = _Measurer(index, queries, judge, depth, threads)
    order, steps = wackiest_first(scores, seed), log_scaled(len(scores.seen))
    wacky, drawn = [], []
    for n in progress.track(steps, "removing terms", len(steps)):
        first = remove_terms(queries, own, order[:n])
        wacky.append((measurer.means(first), first.weight))
        # Without all of them there is nothing to draw.
        draws = range(repeats if n < len(order) else 1)
        chosen = [np.random.default_rng((seed, n, draw)).permutation(order)[:n] for draw in draws]
        lefts = (remove_terms(queries, own, terms) for terms in chosen)
        drawn.append([(measurer.means(left), left.weight) for left in lefts])
    names = [name for name in RANK_MEASURES if int(name.partition("@")[2]) <= depth]
    bare = without_expansion(queries, own)
    whole, none = measurer.means(), measurer.means(bare)
    return {
        "queries": queries.n_rows,
        "terms": len(order),
        "repeats": repeats,
        "removed": steps,
        "measures": {
            name: {
                "full": float(whole[place]),
                "none": float(none[place]),
                "wacky": [float(means[place]) for means, _ in wacky],
                "random": [float(np.mean([means[place] for means, _ in some])) for some in drawn],
                "random_std": [_std([float(means[place]) for means, _ in some]) for some in drawn],
            }
            for place, name in enumerate(RANK_MEASURES)
            if name in names
        },
        "weight_none": bare.weight,
        "weight_wacky": [weight for _, weight in wacky],
        "weight_random": [float(np.mean([weight for _, weight in some])) for some in drawn],
    }


def _std(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
