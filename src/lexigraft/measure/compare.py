"""Systems against each other, query by query (E1): a paired two-sided t-test with Bonferroni's correction, how many
queries are won and lost, and which changed most."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from lexigraft.core.errors import InputError, SettingError

SAME = 1e-12  # values of one query that differ by less are equal: sums in another order round otherwise
LEVEL = 0.05  # of the interval, which then holds 95 %
NAMED = 3  # so many missing queries are named in an error

PerQuery = Mapping[str, float]


class PairedTest(NamedTuple):
    """A mean difference, the interval that holds the true one with 95 %, and the test that it is 0. With one query
    there is only the difference. Differences that are all the same have no spread: p is 1 where they are 0, else 0."""

    difference: float
    low: float | None
    high: float | None
    t: float | None
    p: float | None


class Comparison(NamedTuple):
    """`system` against `baseline` by one measure. `p_corrected`: p times the number of pairs compared, at most 1."""

    measure: str
    system: str
    baseline: str
    queries: int
    mean: float
    baseline_mean: float
    test: PairedTest
    p_corrected: float | None
    wins: int
    ties: int
    losses: int


class Change(NamedTuple):
    query_id: str
    baseline: float
    system: float

    @property
    def difference(self) -> float:
        return self.system - self.baseline


class Changes(NamedTuple):
    """The queries that gained and lost most, the largest change first; equal ones by query id."""

    gained: list[Change]
    lost: list[Change]


def two_sided_p(t: float, degrees: int) -> float:
    """The probability of a Student's t at least as far from 0, with `degrees` >= 1 degrees of freedom."""
    from scipy.special import stdtr  # here: scipy takes longer to load than all that only shows help

    return float(2 * stdtr(degrees, -abs(t)))


def critical_t(p: float, degrees: float) -> float:
    """The t >= 0 whose `two_sided_p` is `p`, 0 < p < 1."""
    from scipy.special import stdtrit

    return float(-stdtrit(degrees, p / 2))


def paired_test(differences: Sequence[float]) -> PairedTest:
    """Student's t of paired differences, two-sided, with n - 1 degrees of freedom; raises where there is none."""
    n = len(differences)
    if not n:
        raise InputError("there is no query to compare systems on; give runs and judgements of the same queries")
    mean = math.fsum(differences) / n
    if n == 1:
        return PairedTest(mean, None, None, None, None)
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in differences) / (n - 1) / n)
    if error == 0:
        t = math.copysign(math.inf, mean) if mean else 0.0
        return PairedTest(mean, mean, mean, t, 0.0 if mean else 1.0)
    t, reach = mean / error, critical_t(LEVEL, n - 1) * error
    return PairedTest(mean, mean - reach, mean + reach, t, two_sided_p(t, n - 1))


def same_queries(systems: Mapping[str, PerQuery], common: bool = False) -> dict[str, dict[str, float]]:
    """The values of every system, all of the same queries in the same order.

    Where one lacks a query that another has, raise and name what is missing or, with `common`, keep only those that
    all have.
    """
    everything = list(dict.fromkeys(query for values in systems.values() for query in values))
    kept = [query for query in everything if all(query in values for values in systems.values())]
    if not common:
        for name, values in systems.items():
            if absent := [query for query in everything if query not in values]:
                named = ", ".join(absent[:NAMED]) + (", ..." if len(absent) > NAMED else "")
                raise InputError(
                    f"{name} has no values for {len(absent)} of {len(everything)} queries ({named}), which others "
                    "have; compare on those that all have (--common), or measure it again"
                )
    if not kept:
        raise InputError(f"no query is common to {', '.join(systems)}; give runs of the same queries")
    return {name: {query: values[query] for query in kept} for name, values in systems.items()}


def pairs_to_compare(names: Sequence[str], baseline: str, all_pairs: bool) -> list[tuple[str, str]]:
    """(system, baseline) for every other system or, with `all_pairs`, (later, earlier) for every two."""
    if baseline not in names:
        raise SettingError(f"--baseline {baseline!r} is none of the systems; one of: {', '.join(names)}")
    if all_pairs:
        order = [baseline, *(name for name in names if name != baseline)]
        return [(later, earlier) for earlier, later in combinations(order, 2)]
    return [(name, baseline) for name in names if name != baseline]


def compare(measure: str, systems: Mapping[str, PerQuery], baseline: str, all_pairs: bool = False) -> list[Comparison]:
    """Every system against `baseline`, or every two, by the values of one measure. All must have the same queries
    (`same_queries`). Bonferroni's correction is over the pairs compared here, a measure at a time."""
    pairs = pairs_to_compare(list(systems), baseline, all_pairs)
    return [_compared(measure, pair, systems, len(pairs)) for pair in pairs]


def _compared(measure: str, pair: tuple[str, str], systems: Mapping[str, PerQuery], n_comparisons: int) -> Comparison:
    system, baseline = pair
    ours, theirs = systems[system], systems[baseline]
    exact = [ours[query] - theirs[query] for query in theirs]
    differences = [value if abs(value) > SAME else 0.0 for value in exact]  # sums in another order differ by as much
    test = paired_test(differences)
    wins, losses = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Comparison(
        measure, system, baseline, len(differences),
        mean=math.fsum(ours.values()) / len(ours),
        baseline_mean=math.fsum(theirs.values()) / len(theirs),
        test=test,
        p_corrected=None if test.p is None else min(1.0, test.p * n_comparisons),
        wins=wins, ties=len(differences) - wins - losses, losses=losses,
    )  # fmt: skip


def changed_most(system: PerQuery, baseline: PerQuery, most: int) -> Changes:
    """At most so many queries that `system` does better than `baseline`, and so many that it does worse."""
    changes = [Change(query, baseline[query], system[query]) for query in baseline]
    gained = sorted((c for c in changes if c.difference > SAME), key=lambda c: (-c.difference, c.query_id))
    lost = sorted((c for c in changes if c.difference < -SAME), key=lambda c: (c.difference, c.query_id))
    return Changes(gained[:most], lost[:most])
