"""The largest score of each list of an index, and how these are distributed (corpus vocabulary study, Figure 3).

Methods that skip documents do so by these maxima: where few lists have high ones, a list of a low one can be left aside
early. An index keeps the maximum of every list, so nothing is decoded for it. Impacts of 8 bits tell only 255 apart;
from the vectors, those of 16 bits are had without another index.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.cut import DocumentCut
from lexigraft.core.types import SparseMatrix
from lexigraft.index.build import count_postings
from lexigraft.index.inverted import Index
from lexigraft.vectors.quantize import document_scale, quantize_documents

FINE_BITS = 16
POINTS = 200


class ListMaxima(NamedTuple):
    """`scores` has one number a term: the largest weight, rounded to an impact of `bits`, that any document gives it; 0
    for an empty list."""

    scores: NDArray[np.float64]
    bits: int


class Distribution(NamedTuple):
    """Of the maxima of some lists. `gini` is 0 where all are equal and nears 1 where few lists have all of the score;
    percentiles are values that occur. None stands where there is nothing to divide by."""

    lists: int
    largest: float | None
    median: float | None
    p99: float | None
    p99_to_median: float | None
    gini: float | None
    share_above: list[float]  # of the thresholds asked for


def maxima_of_index(index: Index) -> ListMaxima:
    return ListMaxima(index.list_max.astype(np.float64) * index.meta.scale, index.meta.bits)


def maxima_of_vectors(matrix: SparseMatrix, keep: DocumentCut) -> ListMaxima:
    """What an index of 16 bits of `matrix`, its rows cut to what `keep` says (0: all), would have."""
    lengths, weights, largest = count_postings(matrix, keep)
    scale = document_scale(largest, FINE_BITS)
    impacts = quantize_documents(weights, scale, FINE_BITS) * (lengths > 0)
    return ListMaxima(impacts.astype(np.float64) * scale, FINE_BITS)


def thresholds_up_to(largest: float) -> NDArray[np.float64]:
    """Evenly spaced values that a curve is drawn at, from 0 to `largest`."""
    return np.linspace(0.0, largest, POINTS + 1)


def share_above(scores: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Which share of `scores` is higher than each threshold; 0 where there are none."""
    if not len(scores):
        return np.zeros(len(thresholds))
    return 1.0 - np.searchsorted(np.sort(scores), thresholds, side="right") / len(scores)


def gini(values: NDArray[np.float64]) -> float | None:
    """Gini's coefficient of values that are not negative: half their mean difference, over all pairs, to their mean."""
    total, n = float(values.sum()), len(values)
    if total <= 0:
        return None
    ranks = np.arange(1, n + 1)
    return float((2 * ranks - n - 1) @ np.sort(values) / (n * total))


def describe(scores: NDArray[np.float64], thresholds: NDArray[np.float64]) -> Distribution:
    """How the maxima of some lists are distributed."""
    above = share_above(scores, thresholds).tolist()
    if not len(scores):
        return Distribution(0, None, None, None, None, None, above)
    median, p99 = np.percentile(scores, (50, 99), method="inverted_cdf").tolist()
    ratio = p99 / median if median > 0 else None
    return Distribution(len(scores), float(scores.max()), median, p99, ratio, gini(scores), above)
