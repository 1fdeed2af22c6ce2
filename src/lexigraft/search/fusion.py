"""Reciprocal rank fusion (S3; Cormack, Clarke and Buettcher, 2009): rankings of several systems become one.

A document's score is the sum, over the rankings that hold it, of weight / (k + its place). Scores of systems are not
comparable, places are. A larger k makes the first places count less.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking

USUAL_K = 60  # of the paper


def fuse(
    rankings: Sequence[Ranking], k: float = USUAL_K, weights: Sequence[float] | None = None, depth: int | None = None
) -> Ranking:
    """The fused ranking of one query, ties by `doc_id`, its first `depth` (None: all). `weights`, one a ranking, are
    1 where they are not given; a ranking of weight 0 adds nothing, not even documents. Raises `InputError` for a
    ranking that holds a document twice."""
    weights = check_fusion(len(rankings), k, weights, depth)
    parts: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        require_distinct(ranking)
        if weight > 0:
            for place, doc_id in enumerate(ranking.doc_ids, 1):
                parts.setdefault(doc_id, []).append(weight / (k + place))
    # Sums that do not depend on the order of their parts: the same places in other systems are a tie.
    scores = {doc_id: math.fsum(values) for doc_id, values in parts.items()}
    best = sorted(scores, key=lambda doc_id: (-scores[doc_id], doc_id))[:depth]
    query_id = rankings[0].query_id if rankings else ""
    return Ranking(query_id, tuple(best), tuple(scores[doc_id] for doc_id in best))


def fuse_runs(
    runs: Sequence[Sequence[Ranking]],
    k: float = USUAL_K,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
) -> list[Ranking]:
    """One ranking for every query that any run has, in the order in which they are met; a run that lacks a query adds
    nothing to it."""
    check_fusion(len(runs), k, weights, depth)
    return [fuse(rankings, k, weights, depth) for rankings in by_query(runs)]


def by_query(runs: Sequence[Sequence[Ranking]]) -> Iterator[list[Ranking]]:
    """For every query that any run has, in the order in which they are met, its ranking of each run; an empty one of a
    run that lacks it."""
    found = [{ranking.query_id: ranking for ranking in run} for run in runs]
    for query_id in dict.fromkeys(query_id for rankings in found for query_id in rankings):
        yield [rankings.get(query_id, Ranking(query_id, (), ())) for rankings in found]


def require_distinct(ranking: Ranking) -> None:
    """Raise `InputError` for a ranking that holds a document twice."""
    if len(set(ranking.doc_ids)) < len(ranking.doc_ids):
        twice = Counter(ranking.doc_ids).most_common(1)[0][0]
        raise InputError(f"document {twice!r} was ranked for query {ranking.query_id!r} twice; keep its best place")


def check_fusion(n_runs: int, k: float, weights: Sequence[float] | None, depth: int | None) -> Sequence[float]:
    """The weights, one a run; raises where a setting of a fusion is not allowed."""
    if not (k >= 0 and math.isfinite(k)):
        raise SettingError(f"k = {k} is not allowed: 0 or more")
    if depth is not None and depth < 1:
        raise SettingError(f"depth = {depth} is not allowed: 1 or more")
    if weights is None:
        return [1.0] * n_runs
    if len(weights) != n_runs:
        raise SettingError(f"{len(weights)} weights are given for {n_runs} runs; give one for each, or none")
    if not all(weight >= 0 and math.isfinite(weight) for weight in weights) or not any(weights):
        raise SettingError(f"weights = {list(weights)} are not allowed: 0 or more, and not all of them 0")
    return weights
