"""Two rankings made into one by their scores: a weighted sum of scores that were mapped to 0..1 (min-max).

A system's scores are mapped over its own candidates, (score - lowest) / (highest - lowest). A document that it does not
have among them gets 0, as its lowest candidate does; candidates that all score alike get 1. A ranking of weight 0 adds
nothing, not even documents: the weights 1 and 0 give one of the two as it is.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lexigraft.core.array_types import Float64s
from lexigraft.core.errors import SettingError
from lexigraft.core.types import Ranking
from lexigraft.search.fusion import require_distinct


class MappedPair:
    """Two rankings of one query, their scores mapped once for any number of weights. Raises for a ranking that holds a
    document twice."""

    def __init__(self, rankings: Sequence[Ranking]) -> None:
        if len(rankings) != 2:
            raise SettingError(f"{len(rankings)} rankings are given: a weighted sum is of two")
        for ranking in rankings:
            require_distinct(ranking)
        self._rankings = tuple(rankings)

    @cached_property
    def _doc_ids(self) -> list[str]:
        """All documents in order, so that a stable sort breaks ties."""
        return sorted({*self._rankings[0].doc_ids, *self._rankings[1].doc_ids})

    @cached_property
    def _scores(self) -> tuple[Float64s, Float64s]:
        """Of these documents, by each of the two."""
        mapped = [dict(zip(one.doc_ids, mapped_scores(one).tolist(), strict=True)) for one in self._rankings]
        ours, theirs = (np.array([found.get(doc_id, 0.0) for doc_id in self._doc_ids]) for found in mapped)
        return ours, theirs

    def fused(self, weight: float, depth: int | None = None) -> Ranking:
        """`weight` times the first's scores and the rest to 1 times the second's; ties by `doc_id`, the first `depth`
        (None: all)."""
        if not 0 <= weight <= 1:
            raise SettingError(f"weight = {weight} is not allowed: 0 to 1")
        if weight in (0, 1):
            alone = self._rankings[0 if weight == 1 else 1]
            return Ranking(alone.query_id, alone.doc_ids[:depth], tuple(mapped_scores(alone)[:depth].tolist()))
        ours, theirs = self._scores
        scores = weight * ours + (1 - weight) * theirs
        best = np.argsort(-scores, kind="stable")[:depth]
        found = (self._doc_ids[place] for place in best.tolist())
        return Ranking(self._rankings[0].query_id, tuple(found), tuple(scores[best].tolist()))


def mapped_scores(ranking: Ranking) -> Float64s:
    """The scores of a ranking in 0..1, in its order."""
    scores = np.array(ranking.scores, np.float64)
    if not len(scores):
        return scores
    lowest, span = scores.min(), scores.max() - scores.min()
    return (scores - lowest) / span if span > 0 else np.ones(len(scores))


def weighted_sum(rankings: Sequence[Ranking], weight: float, depth: int | None = None) -> Ranking:
    """The two rankings of one query as one, as `MappedPair.fused`."""
    return MappedPair(rankings).fused(weight, depth)
