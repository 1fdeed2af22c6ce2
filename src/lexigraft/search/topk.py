"""The k best documents, kept in a min-heap of single integers.

A candidate is one int64 key: the score in the upper half, the complement of its tie rank in the lower. Comparing keys
then compares scores and breaks ties by `doc_id` at once, and a key alone tells which document it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled

RANK_MASK = np.int64(0x7FFFFFFF)


@compiled
def make_key(score: int | np.integer[Any], tie_rank: int | np.integer[Any]) -> np.int64:
    return (np.int64(score) << np.int64(32)) | (RANK_MASK - np.int64(tie_rank))


@compiled
def offer(heap: NDArray[np.int64], size: int, key: np.int64) -> int:
    """Put `key` into the min-heap of capacity len(heap) if it is among the best; return the new size."""
    if size < len(heap):
        child = size
        while child > 0 and heap[(child - 1) >> 1] > key:
            heap[child] = heap[(child - 1) >> 1]
            child = (child - 1) >> 1
        heap[child] = key
        return size + 1
    if key <= heap[0]:
        return size
    hole = 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = key
    return size


def ranked(heap: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(tie ranks, scores) of the heap's keys, best first."""
    keys = np.sort(heap[:size])[::-1]
    return RANK_MASK - (keys & np.int64(0xFFFFFFFF)), keys >> np.int64(32)
