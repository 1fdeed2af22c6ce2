"""Block-Max WAND (Ding and Suel, 2011), document at a time.

Lists are kept in order of the document each stands at. The first documents that all lists up to it could together lift
over the threshold is the pivot; what is before it is skipped. Lists are cut into blocks with maxima of their own:
where those of the pivot's blocks are too little, everything up to the end of the nearest block is skipped as well. A
bound equal to the threshold is never skipped, because a tie may still win by `doc_id`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.counters import DOCUMENTS, NEXT, NEXT_GEQ, SCORE
from lexigraft.search.decoded import decode_lists, documents_in, seek
from lexigraft.search.lists import Keys, Lists, Terms, Weights
from lexigraft.search.topk import make_key, offer_counted

BLOCK_SHIFT = 6
BLOCK_POSTINGS = 1 << BLOCK_SHIFT


@compiled
def search_blockmax_wand(lists: Lists, terms: Terms, weights: Weights, heap: Keys, allowed: Any, counts: Any) -> int:
    """The same contract as `search_exhaustive`."""
    n_lists, size, threshold = len(terms), 0, np.int64(1)
    for number in range(len(lists.range_starts) - 1):
        first, n_here = number * lists.range_size, documents_in(lists, number)
        starts, places, impacts = decode_lists(lists, number, terms)
        block_starts, block_max, bounds = block_maxima_of(starts, impacts, weights)
        order, at = np.arange(n_lists), starts[:-1].copy()
        here = np.full(n_lists, n_here, np.int64)  # where each list stands; n_here: at its end
        for t in range(n_lists):
            if starts[t] < starts[t + 1]:
                here[t] = places[starts[t]]
        while True:
            sort_by_place(order, here)
            pivot, bound = -1, np.int64(0)
            for i in range(n_lists):
                bound += bounds[order[i]]
                if bound >= threshold:
                    pivot = i
                    break
            if pivot < 0 or here[order[pivot]] == n_here:
                break
            place = here[order[pivot]]
            while pivot + 1 < n_lists and here[order[pivot + 1]] == place:
                pivot += 1
            # The blocks that would hold the pivot: their maxima bound it, their ends say how far that holds.
            bound, block_end = np.int64(0), np.int64(n_here)
            for i in range(pivot + 1):
                t = order[i]
                block = shallow(starts, places, t, at[t], place)
                if block >= 0:
                    bound += block_max[block_starts[t] + block]
                    last = min(starts[t] + ((block + 1) << BLOCK_SHIFT), starts[t + 1]) - 1
                    block_end = min(block_end, np.int64(places[last]) + 1)
            if pivot + 1 < n_lists:
                block_end = min(block_end, here[order[pivot + 1]])
            if bound < threshold:
                target = max(block_end, place + 1)
            elif here[order[0]] == place:
                score = np.int64(0)
                for i in range(pivot + 1):
                    t = order[i]
                    score += np.int64(weights[t]) * np.int64(impacts[at[t]])
                    at[t] += 1
                    here[t] = places[at[t]] if at[t] < starts[t + 1] else n_here
                    if counts is not None:
                        counts[NEXT] += 1
                        counts[SCORE] += 1
                if counts is not None:
                    counts[DOCUMENTS] += 1
                if score >= threshold and (allowed is None or allowed[first + place] != 0):
                    key = make_key(score, lists.tie_rank[first + place])
                    size = offer_counted(heap, size, key, counts)
                    if size == len(heap):
                        threshold = heap[0] >> np.int64(32)
                continue
            else:
                target = place
            for i in range(pivot + 1):
                t = order[i]
                if here[t] < target:
                    at[t] = seek(places, at[t], starts[t + 1], target)
                    here[t] = places[at[t]] if at[t] < starts[t + 1] else n_here
                    if counts is not None:
                        counts[NEXT_GEQ] += 1
    return size


@compiled
def block_maxima_of(
    starts: NDArray[np.int64], impacts: NDArray[np.uint32], weights: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(where each list's blocks start, the most each block can add, the most each list can add)."""
    n_lists = len(starts) - 1
    block_starts, bounds = np.zeros(n_lists + 1, np.int64), np.zeros(n_lists, np.int64)
    for t in range(n_lists):
        block_starts[t + 1] = block_starts[t] + ((starts[t + 1] - starts[t] + BLOCK_POSTINGS - 1) >> BLOCK_SHIFT)
    block_max = np.zeros(block_starts[n_lists], np.int64)
    for t in range(n_lists):
        for i in range(starts[t], starts[t + 1]):
            block = block_starts[t] + ((i - starts[t]) >> BLOCK_SHIFT)
            block_max[block] = max(block_max[block], np.int64(weights[t]) * np.int64(impacts[i]))
            bounds[t] = max(bounds[t], block_max[block])
    return block_starts, block_max, bounds


@compiled
def shallow(starts: NDArray[np.int64], places: NDArray[np.int32], t: int, at: int, place: int) -> int:
    """The block of list t, from that of position `at` on, that would hold `place`; -1 past its end."""
    block, end = (at - starts[t]) >> BLOCK_SHIFT, starts[t + 1]
    while starts[t] + (block << BLOCK_SHIFT) < end:
        if places[min(starts[t] + ((block + 1) << BLOCK_SHIFT), end) - 1] >= place:
            return int(block)
        block += 1
    return -1


@compiled
def sort_by_place(order: NDArray[np.int64], here: NDArray[np.int64]) -> None:
    """Insertion sort: lists are few, and nearly in order."""
    for i in range(1, len(order)):
        t, j = order[i], i - 1
        while j >= 0 and here[order[j]] > here[t]:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = t
