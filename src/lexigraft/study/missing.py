"""What a study still needs: the trainings that would decide most, first, and what each takes."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from lexigraft.study.design import BM25, Study
from lexigraft.study.evidence import Evidence
from lexigraft.study.finished import Finished, Training
from lexigraft.study.regime import SCALES
from lexigraft.study.verdict import OPEN, SEEDS, Decision

# Seconds of a training where none of a scale has been measured yet.
UNMEASURED = {"tiny": 12.0, "cpu": 900.0, "gpu": 120.0}


class Missing(NamedTuple):
    """A training that is not done, the claims that wait for it, and about how long it takes. `worth`: the share of a
    claim that a minute of it decides, where all that a claim waits for on a collection decides it in equal parts."""

    training: Training
    claims: tuple[str, ...]
    minutes: float
    worth: float


def missing(
    study: Study, evidence: Evidence, decisions: dict[str, Decision], collections: Sequence[str], scale: str
) -> list[Missing]:
    """The trainings that undecided claims wait for, on each of `collections`, those that decide most for their time
    first. Where all seeds are there and a contrast is still not told apart, one seed more."""
    done = {one.training for one in evidence.finished}
    waits: dict[Training, set[str]] = defaultdict(set)
    worth: dict[Training, float] = defaultdict(float)
    for claim in study.claims:
        if decisions[claim.id].verdict != OPEN:
            continue
        for collection in collections:  # one on which all arms are trained may decide alone
            wanted = [
                training
                for arm in claim.needs
                for training in _trainings(
                    study, arm, collection, _seeds(evidence, decisions[claim.id], arm, collection), scale
                )
                if training not in done
            ]
            for training in wanted:
                waits[training].add(claim.id)
                worth[training] += 1 / len(wanted)
    found = []
    for training, claims in waits.items():
        minutes = seconds_of(training, evidence.finished, scale) / 60
        found.append(Missing(training, tuple(sorted(claims)), minutes, worth[training] / minutes))
    return sorted(found, key=lambda one: (-one.worth, one.training.name))


def _seeds(evidence: Evidence, decision: Decision, arm: str, collection: str) -> range:
    """The seeds that a claim needs of an arm: three or, where those do not tell a contrast of it apart, one more than
    there are."""
    have = evidence.seeds(collection, arm)
    untold = any(
        arm in (one.contrast.a.arm, one.contrast.b.arm) and one.collection == collection and not one.is_met
        for one in decision.outcomes
        if not one.lacks
    )
    return range(max(SEEDS, len(have) + 1 if untold and len(have) >= SEEDS else 0))


def _trainings(study: Study, arm: str, collection: str, seeds: range, scale: str) -> list[Training]:
    if arm == BM25:
        return []
    weights: Sequence[float | None] = SCALES[scale].some(study.arm(arm).weights) or (None,)
    return [Training(collection, arm, weight, seed) for seed in seeds for weight in weights]


def seconds_of(training: Training, finished: Sequence[Finished], scale: str) -> float:
    """What a training takes: as long as that of its arm on its collection, or of any arm there, or of any."""
    same_place = [one for one in finished if one.training.collection == training.collection]
    same_arm = [one for one in same_place if one.training.arm == training.arm]
    known = next((some for some in (same_arm, same_place, list(finished)) if some), [])
    return mean(one.seconds for one in known) if known else UNMEASURED[scale]
