"""The k best documents as single integers.

A candidate is one int64 key: the score in the upper half, the complement of its tie rank in the lower. Comparing keys
then compares scores and breaks ties by `doc_id` at once, and a key alone tells which document it is. Two ways to keep
the best: a min-heap, where the worst must be known after every document; and a buffer that is cut to the best k when
it is full, which moves each key once or twice.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.counters import INSERT

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


@compiled
def offer_counted(heap: NDArray[np.int64], size: int, key: np.int64, counts: Any) -> int:
    """As `offer`; `counts`, None or one number a counter, counts what enters."""
    if counts is not None:
        counts[INSERT] += size < len(heap) or key > heap[0]
    return offer(heap, size, key)


MANY = 64  # so many results and more are left to the caller to sort and cut


def buffer_size(k: int) -> int:
    """How many keys a buffer for the best k holds before it is cut."""
    return 4 * k + 256


@compiled
def cut_to_best(keys: NDArray[np.int64], size: int, k: int) -> np.int64:
    """Move the k largest of keys[:size] to the front, in no order, and return the least of them. 1 <= k <= size.

    Quickselect with the median of three: linear in practice, also for keys in order; made to be slow, they can be."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        first, second, third = keys[low], keys[middle], keys[high]
        pivot = max(min(first, second), min(max(first, second), third))
        left, right = low, high
        while left <= right:
            while keys[left] > pivot:
                left += 1
            while keys[right] < pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return np.int64(keys[k - 1])
