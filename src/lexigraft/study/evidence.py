"""What the finished trainings of a study say of an arm at a point: for each seed, the weight that was best on held-out
queries there."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.study.design import BM25, MRR, Side, Study, is_cost
from lexigraft.study.finished import Finished, Point, file_of, read_all
from lexigraft.study.regime import SCALES, plan_of

POINT_MEASURES = {"FLOPS": "flops", "L0_q": "terms_q", "L0_d": "terms_d"}


def evidence_of(out: Path, study: Study, scale: str) -> "Evidence":
    """What lies in a study's folder, of arms, weights and settings that the study has: trainings of a former plan count
    no more."""
    known = {arm.name: SCALES[scale].some(arm.weights) or (None,) for arm in study.arms}
    found = read_all(out, study.name, scale)
    plans = {arm.name: plan_of(study, arm, SCALES[scale]) for arm in study.arms}
    kept = [
        one for one in found
        if one.training.weight in known.get(one.training.arm, ())
        and one.made_by.get("plan") == plans[one.training.arm]
    ]  # fmt: skip
    _require_same_queries(out, kept)
    return Evidence(kept, known, n_former=len(found) - len(kept))


def _require_same_queries(out: Path, found: Sequence[Finished]) -> None:
    """Raise where trainings on one collection were measured on different queries: ranks are compared one by one."""
    first: dict[str, Finished] = {}
    for one in found:
        if one.collapsed:
            continue
        other = first.setdefault(one.training.collection, one)
        if one.queries != other.queries:
            raise ArtifactError(
                f"{file_of(out, one.training)} and {file_of(out, other.training)} were measured on different queries "
                f"of {one.training.collection}; remove those of the one that is not wanted"
            )


@dataclass
class Evidence:
    """Finished trainings, looked up by collection and arm."""

    finished: Sequence[Finished]
    weights: Mapping[str, Sequence[float | None]] = field(default_factory=dict)  # all that an arm is trained with
    n_former: int = 0  # trainings in the folder that are not counted
    _by_arm: dict[tuple[str, str], list[Finished]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for one in self.finished:
            self._by_arm[one.training.collection, one.training.arm].append(one)

    @property
    def collections(self) -> list[str]:
        return sorted({one.training.collection for one in self.finished})

    def seeds(self, collection: str, arm: str) -> list[int]:
        """The seeds with which an arm was trained at all of its weights: half a sweep is compared with nothing."""
        done: dict[int, set[float | None]] = defaultdict(set)
        for one in self._by_arm.get((collection, arm), ()):
            done[one.training.seed].add(one.training.weight)
        return sorted(seed for seed, weights in done.items() if weights >= set(self.weights.get(arm, ())))

    def having(self, arms: Iterable[str], n_seeds: int, look: str = "") -> list[str]:
        """The collections on which all of `arms` were trained with so many seeds and, where a look is named, looked at
        so: a training that collapsed was not, nor was one from before that look was taken."""
        arms = tuple(arms)
        return [
            collection for collection in self.collections
            if all(self._n_looked(collection, arm, look) >= n_seeds for arm in arms)
        ]  # fmt: skip

    def _n_looked(self, collection: str, arm: str, look: str) -> int:
        if not look:
            return len(self.seeds(collection, arm))
        name, _, value = look.partition(": ")
        return sum(value in one.looks.get(name, {}) for one in self.best(collection, Side(arm)).values())

    def of_seed(self, collection: str, arm: str, seed: int) -> list[Finished]:
        """The trainings of an arm with a seed, one for each weight."""
        return [one for one in self._by_arm.get((collection, arm), ()) if one.training.seed == seed]

    def by_weight(self, collection: str, arm: str) -> dict[float | None, list[Finished]]:
        """All trainings of an arm, those of each weight together."""
        found: dict[float | None, list[Finished]] = {}
        for one in sorted(self._by_arm.get((collection, arm), ()), key=lambda one: one.training.weight or 0.0):
            found.setdefault(one.training.weight, []).append(one)
        return found

    def best(self, collection: str, side: Side) -> dict[int, Finished]:
        """For each seed, the training whose weight was best at the side's point on held-out queries."""
        found = {}
        for seed in self.seeds(collection, side.arm):
            having = [one for one in self._asked_for(collection, side, seed) if side.at in one.points]
            if having:
                found[seed] = max(having, key=lambda one: one.points[side.at].held_out)
        return found

    def points(self, collection: str, side: Side) -> dict[int, Point]:
        """The side's point with each seed. BM25 has one, whatever the seed and the point; a training that collapsed
        found nothing, and so did one that no pruning makes as cheap as asked for."""
        if side.arm == BM25:
            reference = self.bm25(collection)
            return {} if reference is None else {0: reference}
        found = {seed: one.points[side.at] for seed, one in self.best(collection, side).items()}
        for seed in self.seeds(collection, side.arm):
            trainings = self._asked_for(collection, side, seed)
            if seed not in found and trainings and all(one.collapsed or is_cost(side.at) for one in trainings):
                found[seed] = self._nothing_found(collection)
        return found

    def bm25(self, collection: str) -> Point | None:
        return next((one.bm25 for one in self._of(collection) if one.bm25.ranks), None)

    def values(self, collection: str, side: Side, measure: str) -> dict[int, float]:
        """A measure of the side with each seed: MRR@10, FLOPS, L0_q or L0_d of its point, or "LOOK: VALUE"."""
        if measure == MRR:
            return {seed: point.mrr for seed, point in self.points(collection, side).items()}
        if measure in POINT_MEASURES:
            return {
                seed: float(getattr(point, POINT_MEASURES[measure]))
                for seed, point in self.points(collection, side).items()
            }
        look, _, value = measure.partition(": ")
        best = self.best(collection, side)
        return {seed: float(one.looks[look][value]) for seed, one in best.items() if value in one.looks.get(look, {})}

    def per_query(self, collection: str, side: Side) -> NDArray[np.float64] | None:
        """Reciprocal ranks of the measured queries, averaged over seeds; None where there are none."""
        points = [point for point in self.points(collection, side).values() if point.ranks]
        return np.mean([point.reciprocal_ranks for point in points], axis=0) if points else None

    def _asked_for(self, collection: str, side: Side, seed: int) -> list[Finished]:
        found = self.of_seed(collection, side.arm, seed)
        return [one for one in found if not side.weights or one.training.weight in side.weights]

    def _of(self, collection: str) -> Iterable[Finished]:
        return (one for one in self.finished if one.training.collection == collection)

    def _nothing_found(self, collection: str) -> Point:
        reference = self.bm25(collection)
        ranks = "0" * len(reference.ranks) if reference is not None else ""
        return Point(0, 0, 0.0, 0.0, 0.0, 0.0, ranks)
