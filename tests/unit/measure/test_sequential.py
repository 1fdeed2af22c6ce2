"""The test that may be looked at after every question: by hand, by simulation, and against its slow twin."""

import math

import numpy as np
import pytest

from lexigraft.measure.sequential import LEAST, LEVEL, MOST, difference_of, verdict


def test_differences_by_hand():
    assert difference_of(["a", "b", "c"], ["b", "a", "c"], {"b"}) == 0  # places do not count
    assert difference_of(["a", "b", "c"], ["d", "b", "e"], {"a", "b", "e"}) == 0
    assert difference_of(["a", "b"], ["c", "d"], {"c", "d", "x"}) == 2
    assert difference_of(["a"], [], {"a"}) == -1


def test_stakes_by_hand():
    """With exp(-2 d) = 1/3 a stake is multiplied by 3/2, the other one by 1/2."""
    third = math.log(3) / 2
    assert verdict([]) == (0, 0.0, 1.0, 0, False)
    assert verdict([third]).p == pytest.approx(1)  # 3/4 + 1/4
    found = verdict([third, third, third])  # 27/16 + 1/16 = 7/4
    assert (found.n, found.difference, found.p) == (3, pytest.approx(third), pytest.approx(4 / 7))
    assert verdict([third, -third, third, third]).p == pytest.approx(1 / max(1, 3 / 4, 27 / 32 + 3 / 32, 5 / 4 - 1 / 4))
    # The stake on the leader reaches 20 with the tenth: 1/2 * 1.5 ** 10 = 28.8, and 19.2 with the ninth.
    assert [verdict([-third] * n).favoured for n in (9, 10, 11)] == [0, -1, -1]
    assert verdict([third] * 10) == (10, pytest.approx(third), pytest.approx(1 / (0.5 * 1.5**10 + 0.5**11)), 1, True)


def test_the_example_of_the_how_to():
    """docs/howto/judge.md: one relevant document more, again and again."""
    assert 2 / (1 + math.exp(-2)) == pytest.approx(1.762, abs=5e-4)
    assert verdict([1] * 6).favoured == 0 and verdict([1] * 7).favoured == 1
    assert 1 / verdict([1] * 6).p == pytest.approx(14.94, abs=5e-3)
    assert 1 / verdict([1] * 7).p == pytest.approx(26.32, abs=5e-3)


def test_what_was_decided_stays_so_and_equal_questions_change_nothing():
    clear = [1.0] * 12
    assert verdict(clear).favoured == 1
    assert verdict([*clear, *[-1.0] * 12]).favoured == 1
    assert verdict([*clear[:3], 0.0, 0.0, *clear[3:]]).p == pytest.approx(verdict(clear).p)


def test_it_ends_where_no_more_questions_would_decide():
    assert not verdict([0.0] * (LEAST - 1)).is_enough
    assert verdict([0.0] * LEAST).is_enough
    assert not verdict([0.0] * (LEAST + 5), n_same=6).is_enough  # questions with the same results cost nothing
    assert not verdict([2, -1] * 8).is_enough
    even = verdict([1, -1] * (MOST // 2))
    assert even.is_enough and not even.favoured


def slow_p(differences):
    """By the formula as it stands."""
    best = 1.0
    for n in range(len(differences) + 1):
        for_second = math.prod(2 / (1 + math.exp(-2 * d)) for d in differences[:n]) / 2
        for_first = math.prod(2 / (1 + math.exp(2 * d)) for d in differences[:n]) / 2
        best = max(best, for_first + for_second)
    return 1 / best


def test_the_same_as_by_the_formula():
    draw = np.random.default_rng(0)
    for _ in range(50):
        differences = draw.uniform(-2, 2, 30).tolist()
        assert verdict(differences).p == pytest.approx(slow_p(differences))
        swapped = verdict([-one for one in differences])
        assert (swapped.p, swapped.favoured) == (pytest.approx(verdict(differences).p), -verdict(differences).favoured)


@pytest.mark.parametrize("size", ["all alike", "of all sizes", "mostly none"])
def test_systems_that_do_not_differ_are_rarely_told_apart_however_often_one_looks(size):
    """Of 1,000 users who look after each of 60 questions, twice as many as are asked, at most 5 % are told something;
    the bound of three standard errors is that of the simulation."""
    draw, wrong = np.random.default_rng(44), 0
    for _ in range(1000):
        sizes = {"all alike": np.full(60, 1.0), "of all sizes": draw.integers(0, 5, 60),
                 "mostly none": draw.integers(0, 5, 60) * (draw.random(60) < 0.2)}[size]  # fmt: skip
        wrong += verdict((sizes * draw.choice([-1, 1], 60)).tolist()).favoured != 0
    assert wrong / 1000 <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / 1000)


def test_a_system_that_is_clearly_better_is_found():
    """Better in nine of ten questions that differ, of which there are two in three."""
    draw, found, asked = np.random.default_rng(1), 0, 0
    for _ in range(300):
        signs = draw.choice([1, -1, 0], MOST, p=[0.6, 0.2 / 3, 1 / 3])
        differences = (signs * draw.choice([1, 1, 2], MOST)).tolist()
        n = next(n for n in range(1, MOST + 1) if verdict(differences[:n]).is_enough)
        found, asked = found + (verdict(differences[:n]).favoured == 1), asked + n
    assert found / 300 > 0.8 and asked / 300 < 20
