"""Labels from clicks, with or without correction of position bias.

What stands higher is looked at more, and so is clicked more, whatever it is worth. A click at position k, which is
looked at with probability (propensity) p(k), stands for 1/p(k) clicks at a place that is always looked at.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.data.clicks.log import ClickLog
from lexigraft.data.clicks.settings import Correction


class Labels(NamedTuple):
    """One label for every pair of a log, and how many cells with clicks had their weight cut to the maximum."""

    labels: NDArray[np.int64]
    clipped: int


def propensities(clicks: ClickLog, settings: Correction) -> NDArray[np.float64] | None:
    """p(1), p(2), ... up to the log's last position; None where nothing is to be corrected."""
    if settings.method == "power":
        return power_law(settings.eta, clicks.max_position)
    return estimate(clicks) if settings.method == "estimated" else None


def power_law(eta: float, n_positions: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (1.0 / np.arange(1, n_positions + 1)) ** eta
    return found


def estimate(clicks: ClickLog) -> NDArray[np.float64]:
    """Propensities from pairs that were shown at two neighbouring positions: each is its own control, because what it
    is worth cancels out.

    The ratio p(k+1)/p(k) is that of the pairs' click-through rates at k+1 and k, each pair weighted by
    n(k) n(k+1) / (n(k) + n(k+1)) of its impressions n: the Mantel-Haenszel rate ratio, which does not mistake a better
    document that is shown more often for a better position. The ratios are chained from p(1) = 1 and made
    non-increasing. Where the pairs have no clicks at either side, the ratio before continues (1 before the first).
    """
    if not clicks.cell_impressions.any():
        raise InputError(
            "propensities can be estimated only from impressions, and the log tells none: name their column with "
            "--impressions-column, or take --correct power"
        )
    first = _neighbours(clicks)
    if not len(first):
        raise InputError(
            "propensities cannot be estimated: no document was shown at two neighbouring positions for one query; take "
            "--correct power"
        )
    position, n = clicks.cell_position[first], clicks.cell_impressions.astype(np.float64)
    together = n[first] + n[first + 1]
    upper = np.bincount(position, clicks.cell_clicks[first] * n[first + 1] / together, clicks.max_position)
    lower = np.bincount(position, clicks.cell_clicks[first + 1] * n[first] / together, clicks.max_position)
    if not np.any((upper > 0) & (lower > 0)):
        raise InputError(
            "propensities cannot be estimated: no document that was shown at two neighbouring positions was clicked at "
            "both; take --correct power"
        )
    ratio, chain = 1.0, [1.0]
    for k in range(1, clicks.max_position):
        if upper[k] > 0 and lower[k] > 0:
            ratio = lower[k] / upper[k]
        chain.append(chain[-1] * ratio)
    found: NDArray[np.float64] = np.minimum.accumulate(np.array(chain))
    return found


def _neighbours(clicks: ClickLog) -> NDArray[np.intp]:
    """Places of cells whose next cell is the same pair one position lower."""
    same_pair, step = np.diff(clicks.cell_pair) == 0, np.diff(clicks.cell_position)
    return np.flatnonzero(same_pair & (step == 1))


def label_pairs(
    clicks: ClickLog, propensity: NDArray[np.float64] | None, max_weight: float, kept: NDArray[np.int64]
) -> Labels:
    """Clicks as they are, or the rounded sum of clicks / propensity over a pair's positions, at least 1; no click is
    weighed more than `max_weight`. Cut weights are counted for the pairs at the places `kept` alone."""
    if propensity is None:
        return Labels(clicks.pair_clicks, 0)
    weight = 1.0 / propensity[clicks.cell_position - 1]
    too_heavy = (weight > max_weight) & np.isin(clicks.cell_pair, kept)
    sums = np.bincount(clicks.cell_pair, clicks.cell_clicks * np.minimum(weight, max_weight), clicks.n_pairs)
    labels = np.maximum(1, np.floor(sums + 0.5)).astype(np.int64)
    return Labels(labels, int(np.count_nonzero(too_heavy & (clicks.cell_clicks > 0))))
