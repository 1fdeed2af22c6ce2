"""The rank of every weight within its row: what a pruning to any number of terms keeps can be read from it."""

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled


@compiled
def weight_ranks(indptr: Int64s, weights: Float32s) -> Int32s:
    """1 for the heaviest entry of a row, 2 for the next; of equal weights the one that stands first is ahead, as in
    `vectors.prune`. `indptr` begins at 0."""
    ranks = np.empty(len(weights), np.int32)
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        order = np.argsort(-weights[start:end], kind="mergesort")
        for place in range(len(order)):
            ranks[start + order[place]] = place + 1
    return ranks
