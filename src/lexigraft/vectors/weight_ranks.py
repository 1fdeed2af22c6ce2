"""The rank of every weight within its row: what a pruning to any number of terms, or by any hundredth of the mass,
keeps can be read from it."""

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled
from lexigraft.vectors.prune import enough

HUNDREDTHS = 100


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


@compiled
def mass_ranks(indptr: Int64s, weights: Float32s) -> Int32s:
    """The least share of its row's mass, in hundredths, with which an entry is kept: 1 for the heaviest, up to
    100. `vectors.prune` keeps the same entries by mass. `indptr` begins at 0."""
    ranks = np.empty(len(weights), np.int32)
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        order = np.argsort(-weights[start:end], kind="mergesort")
        total, before, rank = 0.0, 0.0, 1
        for place in range(len(order)):
            total += weights[start + order[place]]
        for place in range(len(order)):
            while place > 0 and rank < HUNDREDTHS and before >= enough(rank / HUNDREDTHS, total):
                rank += 1
            ranks[start + order[place]] = rank
            before += weights[start + order[place]]
    return ranks
