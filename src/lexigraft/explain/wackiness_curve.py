"""How much of a vocabulary is wacky (W2): the Normalized Wackiness Curve, its area, and models told apart by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError, SettingError
from lexigraft.explain.wackiness import Importance, score_terms

SIGNIFICANT = 0.05


def curve(scores: NDArray[np.floating], bins: int) -> NDArray[np.float64]:
    """Scores in descending order, cut into equal bins, the mean of each; NaN are left out. Bin i has the terms from
    floor(i n / B) to before floor((i + 1) n / B); where there are fewer terms than bins, a bin a term."""
    if bins < 1:
        raise SettingError(f"bins = {bins} is not allowed: 1 or more")
    known = np.asarray(scores, np.float64)[~np.isnan(scores)]
    if not len(known):
        raise InputError("no term has a score: there are no expansion terms")
    edges = np.arange(min(bins, len(known)) + 1) * len(known) // min(bins, len(known))
    sums = np.add.reduceat(-np.sort(-known), edges[:-1])
    means: NDArray[np.float64] = sums / np.diff(edges)
    return means


def area(means: NDArray[np.float64]) -> float:
    """W-AUC: the mean of the bins' means."""
    return float(means.mean())


def whole_vocabulary(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """The same scores with 1 for every term that expanded nothing: its mean is taken as 0."""
    return np.where(np.isnan(scores), 1.0, scores)


@dataclass(frozen=True)
class CurveRuns:
    """The curve and its area in each of several draws of inputs; draw r takes the same places whatever the model."""

    curves: NDArray[np.float64]  # [runs, bins]; NaN where a draw's inputs, being few, have no expansion term
    areas: NDArray[np.float64]
    areas_whole: NDArray[np.float64]  # over the whole vocabulary
    n_drawn: int


def draw_size(n_inputs: int, wanted: int) -> int:
    """Inputs a draw has: `wanted`, or half of those there are where that is fewer; draws then still differ."""
    return min(wanted, max(1, n_inputs // 2))


def curve_runs(importance: Importance, n_terms: int, bins: int, runs: int, wanted: int, seed: int) -> CurveRuns:
    """The curves of `runs` draws of inputs without replacement. All have as many bins as the draw with the fewest
    terms can fill."""
    n_inputs = len(importance.expansions.indptr) - 1
    n_drawn = draw_size(n_inputs, wanted)
    drawn = []
    for run in range(runs):
        chosen = np.zeros(n_inputs, bool)
        chosen[np.random.default_rng((seed, run)).permutation(n_inputs)[:n_drawn]] = True
        drawn.append(score_terms(importance, n_terms, chosen).scores)
    seen = [int((~np.isnan(scores)).sum()) for scores in drawn]
    if not any(seen):
        raise InputError("no input of any draw has an expansion term; give more inputs")
    bins = min(bins, *(n for n in seen if n))
    curves, whole = np.full((runs, bins), np.nan), np.full(runs, np.nan)
    for run, scores in enumerate(drawn):
        if seen[run]:
            curves[run], whole[run] = curve(scores, bins), area(curve(whole_vocabulary(scores), bins))
    return CurveRuns(curves, curves.mean(axis=1), whole, n_drawn)


def paired_p(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Two-sided p of a paired t-test over the pairs that both have; 1 where all are equal, or where neither side varies
    (draws that are all the same tell nothing), 0 where all differ by the same."""
    both = ~(np.isnan(left) | np.isnan(right))
    left, right = left[both], right[both]
    differences = left - right
    if len(differences) < 2 or not differences.any() or not (np.ptp(left) or np.ptp(right)):
        return 1.0
    spread = differences.std(ddof=1)
    if spread <= 1e-12 * abs(differences.mean()):
        return 0.0
    from scipy.stats import t

    value = differences.mean() / (spread / np.sqrt(len(differences)))
    return float(2 * t.sf(abs(value), len(differences) - 1))


def significance_letters(areas: Sequence[NDArray[np.float64]], level: float = SIGNIFICANT) -> list[str]:
    """One string of letters a model: two share a letter where they do not differ significantly, by paired t-tests with
    Bonferroni correction over all pairs. `a` has the model of the smallest mean."""
    n = len(areas)
    pairs = list(combinations(range(n), 2))
    runs = min((len(values) for values in areas), default=0)
    alike: list[set[int]] = [set() for _ in range(n)]
    for left, right in pairs:
        if paired_p(areas[left][:runs], areas[right][:runs]) * len(pairs) >= level:
            alike[left].add(right)
            alike[right].add(left)
    means = [float(np.nanmean(values)) for values in areas]
    groups = sorted(_cliques(alike), key=lambda group: sorted((means[i], i) for i in group))
    return ["".join(_letter(number) for number, group in enumerate(groups) if i in group) for i in range(n)]


def _cliques(alike: list[set[int]]) -> list[frozenset[int]]:
    """The largest groups in which all are alike (Bron and Kerbosch)."""
    found: list[frozenset[int]] = []

    def grow(group: frozenset[int], may_join: set[int], done: set[int]) -> None:
        if not may_join and not done:
            found.append(group)
        for i in sorted(may_join):
            grow(group | {i}, may_join & alike[i], done & alike[i])
            may_join, done = may_join - {i}, done | {i}

    if alike:
        grow(frozenset(), set(range(len(alike))), set())
    return found


def _letter(number: int) -> str:
    """a, b, ... z, a2, b2, ..."""
    return chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")
