"""What finished trainings say of an arm: at a cost that nothing reaches, by weight, and whether one collapsed."""

import pytest

from lexigraft.study.design import Side, at_cost
from lexigraft.study.evidence import Evidence
from lexigraft.study.papers import STUDIES
from lexigraft.study.papers.pretraining import LONG, UNIQUE_H
from tests.unit.study.trainings import finished, point

COLLAPSE = next(claim.decide for claim in STUDIES["pretraining"].claims if claim.id == "P5")


def test_what_no_pruning_makes_cheap_enough_finds_nothing_at_that_cost():
    some = [
        finished("a", 0, {"whole": point([1, 2]), at_cost(1): point([2, 2])}),
        finished("a", 1, {"whole": point([1, 2])}),
    ]
    points = Evidence(some).points("c", Side("a", at_cost(1)))
    assert {seed: one.mrr for seed, one in points.items()} == {0: 0.5, 1: 0.0}
    assert Evidence(some).points("c", Side("a", "(5,10)")) == {}  # not measured is not nothing


def test_all_weights_of_an_arm_are_listed_even_where_a_seed_lacks_one():
    some = [finished("a", 0, {}, weight=4.0), finished("a", 0, {}, weight=1.0), finished("a", 1, {}, weight=1.0)]
    found = Evidence(some, {"a": (1.0, 4.0)})
    assert {weight: len(of) for weight, of in found.by_weight("c", "a").items()} == {1.0: 2, 4.0: 1}
    assert found.seeds("c", "a") == [0]


@pytest.mark.parametrize(("ranks", "verdict"), [
    ([[1], [1], [2]], "not decided here"), ([[2], [2], [3]], "holds"), ([[1], [1], [1]], "does not hold"),
])  # fmt: skip
def test_a_collapse_is_half_or_less_of_what_the_other_finds(ranks, verdict):
    long = [finished(LONG, seed, {"whole": point(of)}) for seed, of in enumerate(ranks)]
    short = [finished(UNIQUE_H, seed, {"whole": point([1])}) for seed in range(3)]
    assert COLLAPSE is not None
    assert COLLAPSE(Evidence(long + short)).verdict == verdict
    assert "lacks 1 of 3 seeds" in COLLAPSE(Evidence(long[:2] + short)).why


def test_without_trainings_nothing_has_collapsed():
    assert COLLAPSE is not None
    assert COLLAPSE(Evidence([])).verdict == "not decided here"
