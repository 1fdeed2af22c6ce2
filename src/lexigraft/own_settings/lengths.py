"""How much of a text a model should read: the rules, over lengths and a curve that were measured."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

LADDER = (16, 32, 64, 128, 256)  # subwords of a document that are tried
GOOD_ENOUGH = 0.005  # of MRR@10: to be so close to the best is worth no further subwords
QUERIES_READ_WHOLE = 99.0  # per cent of the training queries
DOCUMENTS_READ_WHOLE = 95.0  # per cent; to read more than these have is of little use
MULTIPLE = 4
SHORTEST = 8
SPECIAL = 2  # the subwords that begin and end a text
QUANTILES = (50, 75, 90, 95, 99)


def query_length(subwords: NDArray[np.int64], most: int | None) -> int:
    """What holds 99 of 100 queries whole: `subwords` are theirs, special ones not counted; `most` is what the backbone
    reads (None: any number)."""
    return _rounded(_quantile(subwords, QUERIES_READ_WHOLE) + SPECIAL, most)


def lengths_to_try(subwords: NDArray[np.int64], most: int | None) -> list[int]:
    """The document lengths worth trying, ascending: those of the ladder that are shorter than nearly all documents, and
    the one that holds these whole, where that is not too long."""
    whole = _rounded(_quantile(subwords, DOCUMENTS_READ_WHOLE) + SPECIAL, most)
    return [length for length in LADDER if length < whole] + ([whole] if whole <= LADDER[-1] else [])


def smallest_good(curve: Mapping[int, float]) -> int:
    """The shortest document length whose MRR@10 is within GOOD_ENOUGH of the best."""
    best = max(curve.values())
    return min(length for length, value in curve.items() if value >= best - GOOD_ENOUGH - 1e-9)


def quantiles(subwords: Sequence[int] | NDArray[np.int64]) -> dict[str, int]:
    """What share of the texts is so long or shorter, for a report."""
    return {f"p{share}": int(_quantile(np.asarray(subwords), share)) for share in QUANTILES}


def _quantile(subwords: NDArray[np.int64], share: float) -> int:
    """The smallest length that so many per cent of the texts do not exceed."""
    return int(np.percentile(subwords, share, method="inverted_cdf"))


def _rounded(length: int, most: int | None) -> int:
    up = max(SHORTEST, math.ceil(length / MULTIPLE) * MULTIPLE)
    return up if most is None else min(up, most)
