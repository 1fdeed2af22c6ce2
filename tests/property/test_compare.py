"""The paired test against scipy's, the front against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lexigraft.measure.compare import changed_most, compare, critical_t, paired_test, two_sided_p
from lexigraft.measure.pareto import Point, best_within, pareto_front

VALUES = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 6))
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=60)
POINTS = st.lists(st.builds(Point, st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=15)


@given(PAIRS)
def test_as_scipy_has_it(pairs):
    differences = [ours - theirs for ours, theirs in pairs]
    found = paired_test(differences)
    if max(differences) - min(differences) < 1e-9:
        return  # scipy's t of differences without spread is not a number, or one of rounding alone
    twin = stats.ttest_rel([ours for ours, _ in pairs], [theirs for _, theirs in pairs])
    assert found.t == pytest.approx(twin.statistic, rel=1e-6, abs=1e-9)
    assert found.p == pytest.approx(twin.pvalue, rel=1e-5, abs=1e-12)
    low, high = twin.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


@given(st.floats(-60, 60), st.integers(1, 20_000))
def test_the_distribution_as_scipy_has_it(t, degrees):
    assert two_sided_p(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-8, abs=1e-290)


@given(st.floats(1e-6, 0.999), st.integers(1, 5_000))
def test_its_quantiles_as_scipy_has_them(p, degrees):
    assert critical_t(p, degrees) == pytest.approx(stats.t.isf(p / 2, degrees), rel=1e-7, abs=1e-9)


@given(PAIRS)
def test_every_query_is_won_tied_or_lost(pairs):
    ours, theirs = ({str(at): pair[side] for at, pair in enumerate(pairs)} for side in (0, 1))
    [found] = compare("m", {"theirs": theirs, "ours": ours}, "theirs")
    [mirrored] = compare("m", {"ours": ours, "theirs": theirs}, "ours")
    assert found.wins + found.ties + found.losses == len(pairs)
    assert (found.wins, found.losses) == (mirrored.losses, mirrored.wins)
    changes = changed_most(ours, theirs, len(pairs))
    assert (len(changes.gained), len(changes.lost)) == (found.wins, found.losses)


def beats(one: Point, other: Point) -> bool:
    no_worse = one.cost <= other.cost and one.quality >= other.quality
    return no_worse and one != other


@given(POINTS)
def test_the_front_is_what_none_beats(points):
    front = [points[at] for at in pareto_front(points)]
    assert front == sorted({point for point in points if not any(beats(other, point) for other in points)})


@given(POINTS, st.integers(0, 7))
def test_the_best_within_a_budget(points, budget):
    at = best_within(points, budget)
    within = [point for point in points if point.cost < budget]
    if at is None:
        assert not within
    else:
        best = max(point.quality for point in within)
        assert points[at] == min(point for point in within if point.quality == best)
