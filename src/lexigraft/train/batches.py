"""Which rows a step sees: a function of the seed and the step alone, which is what makes resuming exact.

And how the texts of a batch are cut into rectangles: texts of like length together, so that little is padding.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

MOST_PADDING = 0.2  # of a rectangle; a batch with more is cut, unless the parts would be small
GPU_PADDING = 0.5  # a GPU waits for launches, so fewer and larger rectangles are faster there
EVEN_PADDING, MOST_EVEN = 0.3, 4  # of a batch in groups of one size, whose rectangles have few shapes; how many groups
SMALLEST_BUCKET = 32  # texts: below that, a launch costs more than the padding it saves


def rows_of_step(step: int, n_rows: int, batch: int, seed: int) -> NDArray[np.int64]:
    """The rows of a step: every pass goes through all rows once, in an order of its own; a batch never spans passes."""
    per_pass = max(1, n_rows // batch)
    order = _order(n_rows, seed, step // per_pass)
    start = (step % per_pass) * batch
    return np.sort(order[start : start + batch])


@lru_cache(maxsize=4)  # the steps of a pass share it: of millions of rows it takes longer than a step
def _order(n_rows: int, seed: int, number: int) -> NDArray[np.int64]:
    """The order of the rows in a pass."""
    order: NDArray[np.int64] = np.random.default_rng((seed, number)).permutation(n_rows)
    order.flags.writeable = False
    return order


def steps_of_passes(epochs: float, n_rows: int, batch: int) -> int:
    """How many batches so many passes are, at least one."""
    return max(1, round(epochs * max(1, n_rows // batch)))


def warmup_within(warmup: int, steps: int) -> int:
    """A warm-up for a training of so many passes: as long as it is set, but a tenth of the steps at most. Who counts in
    passes does not know the steps, and a warm-up that never ends trains nothing."""
    return min(warmup, steps // 10)


def length_buckets(lengths: NDArray[np.int64], most: int = 0, padding: float = MOST_PADDING) -> list[NDArray[np.int64]]:
    """The places of texts, each once, in groups of like length, the shortest first; `most` texts a group (0: any).

    A group ends where a further text would make more than the share `padding` of its rectangle padding. One group keeps
    the order of the batch.
    """
    most = most or len(lengths)
    if len(lengths) <= most and _padding(lengths) <= padding:
        return [np.arange(len(lengths))]
    order = np.argsort(lengths, kind="stable")
    sums = np.concatenate(([0], np.cumsum(lengths[order])))
    groups, start = [], 0
    while start < len(order):
        ends = np.arange(start + 1, min(start + most, len(order)) + 1)
        filled = (sums[ends] - sums[start]) / (lengths[order[ends - 1]] * (ends - start))
        dense = ends[(filled >= 1 - padding) | (ends - start <= SMALLEST_BUCKET)]
        end = int(dense[-1])
        groups.append(order[start:end])
        start = end
    return groups if len(groups) > 1 else [np.arange(len(lengths))]


def even_groups(lengths: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The places of texts, each once, in 1, 2 or 4 groups of one size, the shortest texts first: as few as leave at
    most the share `EVEN_PADDING` of padding, or `MOST_EVEN`. One group keeps the order of the batch."""
    order = np.argsort(lengths, kind="stable")
    n_groups = 1
    while n_groups < MOST_EVEN and 2 * n_groups * SMALLEST_BUCKET <= len(order):
        groups = np.array_split(order, n_groups)
        area = sum(int(lengths[group].max(initial=1)) * len(group) for group in groups)
        if 1 - float(lengths.sum()) / max(1, area) <= EVEN_PADDING:
            break
        n_groups *= 2
    return np.array_split(order, n_groups) if n_groups > 1 else [np.arange(len(lengths))]


def _padding(lengths: NDArray[np.int64]) -> float:
    area = int(lengths.max(initial=1)) * max(1, len(lengths))
    return 1 - float(lengths.sum()) / area
