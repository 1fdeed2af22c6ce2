"""The rule by which contrasts are told apart and claims decided.

A contrast needs three seeds of both sides. Query by query (MRR@10): a paired t-test over queries, of reciprocal ranks
averaged over seeds, with Bonferroni's correction over all contrasts of the study; the difference must also be larger
than either side's spread, the distance between its best and its worst seed. Two sides are level where the corrected
interval of the difference holds 0 and lies within a hundredth of it. Training by training (any other value): every seed
of one side must lie beyond every seed of the other; where seeds overlap, two sides are level where the interval of the
difference of their means (Welch's, 95 %) holds 0 and lies within a tenth of the second one's mean, or a hundredth for
W-AUC.

A claim holds where all its contrasts come out as it expects, on every collection on which all of them have their seeds.
It does not hold where one comes out otherwise, on any collection. Else it is not decided here.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.measure.compare import critical_t, two_sided_p
from lexigraft.study.design import ABOVE, BELOW, BM25, LEVEL, MRR, NOT_BELOW, W_AUC, Claim, Contrast, Side, Study
from lexigraft.study.evidence import Evidence

HOLDS, DOES_NOT, OPEN = "holds", "does not hold", "not decided here"
UNTOLD = "not told apart"
SEEDS = 3
SHOWN = 2  # outcomes that are written beside a claim
ALPHA = 0.05
MARGIN = 0.01  # of MRR@10 and W-AUC: what is within it is level
SHARE = 0.1  # of any other value
MEETS = {ABOVE: (ABOVE,), BELOW: (BELOW,), LEVEL: (LEVEL,), NOT_BELOW: (ABOVE, LEVEL)}


class Outcome(NamedTuple):
    """A contrast on a collection: which of above, level, below it is, or not told apart, and by which numbers. `p` is
    corrected; `lacks` says which seeds are missing."""

    collection: str
    contrast: Contrast
    found: str
    a: float | None = None
    b: float | None = None
    p: float | None = None
    spread: float | None = None
    seeds: tuple[int, int] = (0, 0)
    lacks: str = ""

    @property
    def is_met(self) -> bool:
        return self.found in MEETS[self.contrast.expect]

    @property
    def is_contradicted(self) -> bool:
        return self.found in (ABOVE, LEVEL, BELOW) and not self.is_met


class Decision(NamedTuple):
    """What became of a claim, in one line why, and the outcomes it rests on."""

    verdict: str
    why: str
    outcomes: tuple[Outcome, ...] = ()


def decide(claim: Claim, evidence: Evidence, study: Study, decides: bool) -> Decision:
    """Decide a claim; at a scale that does not decide, only the numbers are given."""
    if claim.decide is not None:
        found = claim.decide(evidence)
    else:
        n_tests = n_contrasts(study) * max(1, len(evidence.collections))
        outcomes = tuple(
            outcome(evidence, collection, contrast, n_tests)
            for collection in evidence.collections
            for contrast in claim.contrasts
        )
        found = by_outcomes(outcomes)
    if not decides and found.verdict != OPEN:
        return Decision(OPEN, f"this scale never decides; it would say: {found.verdict}", found.outcomes)
    return found


def lacking_seeds(evidence: Evidence, arms: Sequence[str]) -> Decision:
    """Not decided, because no collection has three seeds of all of `arms`: what the one lacks that lacks least."""
    lacks = {
        collection: {arm: SEEDS - len(evidence.seeds(collection, arm)) for arm in arms}
        for collection in evidence.collections
    }
    if not lacks:
        return Decision(OPEN, "nothing is trained")
    nearest = min(lacks, key=lambda collection: sum(max(0, n) for n in lacks[collection].values()))
    said = (f"{n} of {SEEDS} seeds of {arm}" for arm, n in lacks[nearest].items() if n > 0)
    return Decision(OPEN, f"lacks {' and '.join(said)} on {nearest}")


def by_outcomes(outcomes: tuple[Outcome, ...]) -> Decision:
    """The rule over contrasts."""
    against = [one for one in outcomes if one.is_contradicted]
    if against:
        return Decision(
            DOES_NOT, "; ".join(described(one) for one in against[:SHOWN]) + _more(tuple(against)), outcomes
        )
    unfinished = sorted({one.collection for one in outcomes if one.lacks})
    whole = tuple(one for one in outcomes if one.collection not in unfinished)
    if whole and all(one.is_met for one in whole):
        said = "; ".join(described(one) for one in whole[:SHOWN]) + _more(whole)
        return Decision(HOLDS, said + _not_yet(unfinished), outcomes)
    untold = [one for one in whole or outcomes if not one.is_met]  # no other collection can mend these
    lacking = [one.lacks for one in untold if one.lacks]
    why = (
        f"lacks {lacking[0]}"
        if lacking
        else "; ".join(described(one) for one in untold[:SHOWN]) or "nothing is trained"
    )
    return Decision(OPEN, why, outcomes)


def _not_yet(collections: Sequence[str]) -> str:
    return f"; not all trained on {', '.join(collections)}" if collections else ""


def _more(outcomes: tuple[Outcome, ...]) -> str:
    left = len(outcomes) - SHOWN
    return f"; and {left} more" if left > 0 else ""


def n_contrasts(study: Study) -> int:
    """Over how many Bonferroni's correction is, on each collection."""
    return sum(len(claim.contrasts) for claim in study.claims) or 1


def outcome(evidence: Evidence, collection: str, contrast: Contrast, n_tests: int) -> Outcome:
    """A contrast on a collection."""
    sides = contrast.a, contrast.b
    values = [evidence.values(collection, side, contrast.measure) for side in sides]
    seeds = len(values[0]), len(values[1])
    means = [float(np.mean(list(of.values()))) if of else None for of in values]
    lacking = [_lacking(side, of) for side, of in zip(sides, values, strict=True)]
    lacks = " and ".join(dict.fromkeys(filter(None, lacking)))
    if lacks:
        lacks = f"{lacks} on {collection}"
    if None in means:
        return Outcome(collection, contrast, UNTOLD, means[0], means[1], seeds=seeds, lacks=lacks)
    spread = max(max(of.values()) - min(of.values()) for of in values)
    ours, theirs = (evidence.per_query(collection, side) for side in sides) if contrast.measure == MRR else (None, None)
    if ours is not None and theirs is not None:
        found, p = _by_queries(ours - theirs, spread, n_tests)
    else:
        found, p = _by_seeds(list(values[0].values()), list(values[1].values()), contrast.measure), None
    if lacks:
        found = UNTOLD
    return Outcome(collection, contrast, found, means[0], means[1], p, spread, seeds, lacks)


def _lacking(side: Side, values: dict[int, float]) -> str:
    needed = 1 if side.arm == BM25 else SEEDS
    return f"{needed - len(values)} of {needed} seeds of {side.arm}" if len(values) < needed else ""


def _by_queries(differences: NDArray[np.float64], spread: float, n_tests: int) -> tuple[str, float]:
    """(what the paired test says, its corrected p)."""
    n, mean = len(differences), float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    if not error:
        return (UNTOLD if n < 2 else LEVEL if not mean else ABOVE if mean > 0 else BELOW), float(not mean)
    p = min(1.0, two_sided_p(mean / error, n - 1) * n_tests)
    if p < ALPHA and abs(mean) > spread:
        return (ABOVE if mean > 0 else BELOW), p
    reach = critical_t(ALPHA / n_tests, n - 1) * error
    return (LEVEL if _is_level(abs(mean), reach, MARGIN) else UNTOLD), p


def _by_seeds(ours: list[float], theirs: list[float], measure: str) -> str:
    if min(ours) > max(theirs):
        return ABOVE
    if max(ours) < min(theirs):
        return BELOW
    margin = MARGIN if measure.endswith(W_AUC) else SHARE * abs(float(np.mean(theirs)))
    distance = abs(float(np.mean(ours) - np.mean(theirs)))
    return LEVEL if _is_level(distance, _reach(ours, theirs), margin) else UNTOLD


def _is_level(distance: float, reach: float, margin: float) -> bool:
    """Whether the interval of a difference holds 0 and lies within the margin. One that does not hold 0 says that there
    is a difference, however small: with more seeds every interval would come to lie within the margin."""
    return distance <= reach and distance + reach <= margin


def _reach(ours: list[float], theirs: list[float]) -> float:
    """Half of Welch's interval of 95 % of the difference of two means."""
    if min(len(ours), len(theirs)) < 2:
        return math.inf
    parts = [float(np.var(some, ddof=1)) / len(some) for some in (ours, theirs)]
    variance = sum(parts)
    if not variance:
        return 0.0
    degrees = variance**2 / sum(part**2 / (len(some) - 1) for part, some in zip(parts, (ours, theirs), strict=True))
    return critical_t(ALPHA, degrees) * math.sqrt(variance)


def described(one: Outcome) -> str:
    """An outcome in a line."""
    contrast = one.contrast
    a, b = contrast.a.described, contrast.b.described
    told = (
        f"{a} is {one.found}{' with' if one.found == LEVEL else ''} {b}"
        if one.found != UNTOLD
        else f"{a} and {b} are {UNTOLD}"
    )
    numbers = " against ".join("–" if value is None else f"{value:.4g}" for value in (one.a, one.b))
    test = "" if one.p is None else f", p {'< .001' if one.p < 0.001 else f'= {one.p:.3f}'}"
    return f"{one.collection}: {told} by {contrast.measure} ({numbers}{test})"
