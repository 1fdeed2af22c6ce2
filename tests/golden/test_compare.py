"""Comparisons worked out by hand."""

import math

import pytest

from lexigraft.measure.compare import Change, changed_most, compare, critical_t, paired_test, two_sided_p

BASELINE = {"q1": 0.5, "q2": 0.2, "q3": 0.0, "q4": 1.0, "q5": 0.3}
SYSTEM = {"q1": 0.7, "q2": 0.6, "q3": 0.0, "q4": 0.8, "q5": 0.9}
# Differences .2 .4 0 -.2 .6: mean .2; squares about it 0 .04 .04 .16 .16, together .4; variance .4/4 = .1;
# standard error sqrt(.1/5) = sqrt(.02); t = .2/sqrt(.02) = sqrt(2), with 4 degrees of freedom.


def p_of_four_degrees(t: float) -> float:
    """The distribution has a closed form there: with u = t / sqrt(4 + t^2), P(|T| > t) = 1 - u (3 - u^2) / 2."""
    u = t / math.sqrt(4 + t * t)
    return 1 - u * (3 - u * u) / 2


def test_a_pair_of_systems():
    [found] = compare("MRR@10", {"a": BASELINE, "b": SYSTEM}, "a")
    assert (found.system, found.baseline, found.queries) == ("b", "a", 5)
    assert found.mean == pytest.approx(0.6)
    assert found.baseline_mean == pytest.approx(0.4)
    assert found.test.difference == pytest.approx(0.2)
    assert found.test.t == pytest.approx(math.sqrt(2))
    # u = sqrt(2)/sqrt(6) = 1/sqrt(3); p = 1 - (3 - 1/3) / (2 sqrt(3)) = 1 - 4 / (3 sqrt(3))
    assert found.test.p == pytest.approx(1 - 4 / (3 * math.sqrt(3)), abs=1e-12)
    assert found.p_corrected == found.test.p  # one comparison
    assert (found.wins, found.ties, found.losses) == (3, 1, 1)
    # t of 4 degrees at 95 %, from any table: 2.776
    assert found.test.low == pytest.approx(0.2 - 2.7764451 * math.sqrt(0.02), abs=1e-7)
    assert found.test.high == pytest.approx(0.2 + 2.7764451 * math.sqrt(0.02), abs=1e-7)


def test_bonferroni_counts_the_pairs():
    systems = {"a": BASELINE, "b": SYSTEM, "c": {query: value / 2 for query, value in BASELINE.items()}}
    once = compare("R@10", {"a": BASELINE, "b": SYSTEM}, "a")[0].test.p
    assert compare("R@10", systems, "a")[0].p_corrected == pytest.approx(2 * once)
    every_two = compare("R@10", systems, "a", all_pairs=True)
    assert [(found.system, found.baseline) for found in every_two] == [("b", "a"), ("c", "a"), ("c", "b")]
    assert every_two[0].p_corrected == pytest.approx(3 * once)
    assert all(found.p_corrected <= 1 for found in every_two)


def test_what_changed_most():
    found = changed_most(SYSTEM, BASELINE, 2)
    assert [change.query_id for change in found.gained] == ["q5", "q2"]
    assert found.lost == [Change("q4", 1.0, 0.8)]


@pytest.mark.parametrize("t", [0.01, 0.5, 1.0, 2.5, 8.0, 40.0])
def test_closed_forms_of_the_distribution(t):
    assert two_sided_p(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-10)
    assert two_sided_p(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9)
    assert two_sided_p(-t, 4) == pytest.approx(p_of_four_degrees(t), rel=1e-7)


def test_values_of_any_table():
    for degrees, value in ((1, 12.706), (4, 2.776), (10, 2.228), (30, 2.042), (1_000_000, 1.960)):
        assert critical_t(0.05, degrees) == pytest.approx(value, abs=6e-4)


def test_differences_without_spread():
    assert paired_test([0.25]) == (0.25, None, None, None, None)
    assert paired_test([0.0, 0.0]) == (0.0, 0.0, 0.0, 0.0, 1.0)
    assert paired_test([-0.25, -0.25]) == (-0.25, -0.25, -0.25, -math.inf, 0.0)
