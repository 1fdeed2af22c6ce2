"""Two systems compared on judged questions while those are judged: a test that may be looked at after every question.

The difference d of a question is how many relevant documents more one system has among its first `DEPTH` results. What
both have there changes nothing. That neither system is better means here that d is as likely as -d.

A stake of 1/2 is set on each system. Every question multiplies it by

    2 / (1 + exp(-2 d))

where d is what that system has more. For d and -d the two factors add up to 2: where both are equally likely the sum of
the stakes stays 1 on average, whatever the sizes of the differences, which is a fair game. By Ville's inequality it
ever reaches 20 with a probability of at most 1/20, so when it does, the system whose stake has grown is better. One may
look after every question, and end when one likes.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

DEPTH = 5  # results of each system: fewer show less, and more take more answers
LEVEL = 0.05
MOST = 40  # questions with different results, after which there was enough
LEAST = 15  # before it may be said that no further ones would decide


class Verdict(NamedTuple):
    """`favoured`: 1 where the second system is better, -1 the first, 0 where that is not known. `p`: stakes as large as
    the largest so far have at most this probability where neither is better. `is_enough`: no more questions needed."""

    n: int
    difference: float
    p: float
    favoured: int
    is_enough: bool


def difference_of(first: Collection[str], second: Collection[str], relevant: Collection[str]) -> int:
    """How many relevant documents the second system has more, of the first results of both."""
    return sum(doc_id in relevant for doc_id in second) - sum(doc_id in relevant for doc_id in first)


def verdict(differences: Sequence[float], n_same: int = 0) -> Verdict:
    """What is known after these questions, in the order in which they were judged. `n_same`: on how many of them there
    was nothing to judge; they do not count to those that may be asked at most."""
    stakes, largest, favoured = (math.log(1 / 2), math.log(1 / 2)), 0.0, 0
    for one in differences:
        stakes = stakes[0] + _growth(-one), stakes[1] + _growth(one)
        largest = max(largest, _together(stakes))
        if not favoured and largest >= -math.log(LEVEL):
            favoured = 1 if stakes[1] > stakes[0] else -1
    n, n_asked = len(differences), len(differences) - n_same
    mean = math.fsum(differences) / n if n else 0.0
    is_hopeless = n_asked >= LEAST and not _may_decide(stakes, differences, n_asked)
    return Verdict(n, mean, math.exp(-largest), favoured, bool(favoured) or n_asked >= MOST or is_hopeless)


def _growth(difference: float) -> float:
    """The logarithm of what a stake is multiplied by."""
    return math.log(2) - math.log1p(math.exp(-2 * difference))


def _together(stakes: tuple[float, float]) -> float:
    """The logarithm of the sum of what has these logarithms."""
    high, low = max(stakes), min(stakes)
    return high + math.log1p(math.exp(low - high))


def _may_decide(stakes: tuple[float, float], differences: Sequence[float], n_asked: int) -> bool:
    """Whether the questions that are left could decide, were all of them for the system that leads, each by as much as
    questions differ on average. To end before is honest: it only makes it rarer that a difference is found."""
    usual = math.fsum(map(abs, differences)) / n_asked
    return max(stakes) + (MOST - n_asked) * _growth(usual) >= -math.log(LEVEL)
