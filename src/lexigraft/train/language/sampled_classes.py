"""Which classes stand for all in a step's softmax: some drawn by frequency, each with the chance it had.

Three quarters of the draws go by count ** 0.75 (word2vec's choice), the count being how often training asks for a
class: what is often asked for is nearly always among the drawn, and the rarer ones have their turn. The usual
alternative, log-uniform by rank, needs classes numbered by frequency, and pieces are not: letters come first. The last
quarter is uniform, so that no class has a chance of less than a quarter of the mean. Without it, a class that is never
asked for would be drawn hardly ever and then count for thousands, and the loss would leap (a defensive mixture).

All drawn classes are different: none is a waste. Those whose chance would be more than 1 are always there, and the
others are drawn by systematic sampling in an order of the step's own, which gives each its chance exactly:

    chance_j = min(1, c weight_j),   c such that the chances add up to the number drawn
    weight_j = 3/4 count_j ** 0.75 / sum of all + 1/4 / classes
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POWER = 0.75
UNIFORM = 0.25
ORDER = 3  # in the seeds of draws: batches and masks have numbers of their own


class DrawnClasses(NamedTuple):
    """Different classes, ascending, and the logarithm of the chance each had: of how often it is there on average."""

    ids: NDArray[np.int64]
    log_chance: NDArray[np.float32]


class ClassSampler:
    """Draws `n_drawn` of the classes whose `counts` are given; all of them where there are not more."""

    def __init__(self, counts: NDArray[np.int64], n_drawn: int, seed: int) -> None:
        self._seed = seed
        self.chances = inclusion_chances(drawing_weights(counts), n_drawn)
        self._always = np.flatnonzero(self.chances >= 1)
        self._others = np.flatnonzero(self.chances < 1)
        self._n_others = min(n_drawn, len(counts)) - len(self._always)

    def draw(self, step: int) -> DrawnClasses:
        """The classes of a step: a function of the seed and the step."""
        rng = np.random.default_rng((self._seed, ORDER, step))
        order = rng.permutation(self._others)
        reached = np.cumsum(self.chances[order])  # ends at n_others: a point a unit, each class as long as its chance
        points = rng.random() + np.arange(self._n_others)
        places = np.minimum(np.searchsorted(reached, points, side="right"), len(order) - 1)
        ids = np.unique(np.concatenate((self._always, order[places])))
        return DrawnClasses(ids, np.log(self.chances[ids]).astype(np.float32))


def drawing_weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the chances of classes of such counts are in proportion to; they add up to 1."""
    powers = counts.astype(np.float64) ** POWER
    total = powers.sum()
    by_count = powers / total if total else np.full(len(counts), 1 / len(counts))
    weights: NDArray[np.float64] = (1 - UNIFORM) * by_count + UNIFORM / len(counts)
    return weights


def inclusion_chances(weights: NDArray[np.float64], n_drawn: int) -> NDArray[np.float64]:
    """The chance of each class to be among `n_drawn` different ones: in proportion to its weight, 1 at most."""
    if n_drawn >= len(weights):
        return np.ones(len(weights))
    order = np.argsort(-weights, kind="stable")
    descending = weights[order]
    left = np.cumsum(descending[::-1])[::-1]  # the weight of a class and all lighter ones
    # With the k heaviest always there, the others share n_drawn - k. The first k that leaves nobody above 1 is right.
    heaviest = (n_drawn - np.arange(n_drawn)) * descending[:n_drawn] / left[:n_drawn]
    n_always = int(np.argmax(heaviest < 1)) if (heaviest < 1).any() else n_drawn
    chances = np.ones(len(weights))
    lighter = order[n_always:]
    chances[lighter] = (n_drawn - n_always) * weights[lighter] / left[n_always]
    return chances
