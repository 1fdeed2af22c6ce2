"""Which rows a step sees: a function of the seed and the step alone, which is what makes resuming exact.

And how the texts of a batch are cut into rectangles: texts of like length together, so that little is padding.
"""

import numpy as np
from numpy.typing import NDArray

MOST_PADDING = 0.2  # of a rectangle; a batch with more is cut, unless the parts would be small
GPU_PADDING = 0.5  # a GPU waits for launches, so fewer and larger rectangles are faster there
SMALLEST_BUCKET = 32  # texts: below that, a launch costs more than the padding it saves


def rows_of_step(step: int, n_rows: int, batch: int, seed: int) -> NDArray[np.int64]:
    """The rows of a step: every pass goes through all rows once, in an order of its own; a batch never spans passes."""
    per_pass = max(1, n_rows // batch)
    order = np.random.default_rng((seed, step // per_pass)).permutation(n_rows)
    start = (step % per_pass) * batch
    return np.sort(order[start : start + batch])


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


def _padding(lengths: NDArray[np.int64]) -> float:
    area = int(lengths.max(initial=1)) * max(1, len(lengths))
    return 1 - float(lengths.sum()) / area
