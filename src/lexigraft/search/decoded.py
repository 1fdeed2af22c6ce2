"""A query's lists in one range of documents, decoded: what methods that go document by document need."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import DENSE, NONE, decode_list, list_count, padded
from lexigraft.search.lists import Lists, Terms


@compiled
def documents_in(lists: Lists, number: int) -> int:
    """How many documents the range `number` has."""
    return int(min(lists.range_size, len(lists.tie_rank) - number * lists.range_size))


@compiled
def decode_lists(
    lists: Lists, number: int, terms: Terms
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint32]]:
    """(starts, places, impacts): the postings of terms[t] in range `number` lie at starts[t]..starts[t + 1]."""
    entries, stream, range_starts = lists.entries, lists.stream, lists.range_starts
    n_padded = padded(documents_in(lists, number))
    room = np.int64(0)
    for t in range(len(terms)):
        entry = int(entries[number, terms[t]])
        if entry & 3 != NONE:
            room += list_count(stream, range_starts[number] + (entry >> 2)) if entry & 3 != DENSE else n_padded
    starts = np.zeros(len(terms) + 1, np.int64)
    places, impacts = np.empty(room, np.int32), np.empty(room, np.uint32)
    for t in range(len(terms)):
        entry, done = int(entries[number, terms[t]]), starts[t]
        starts[t + 1] = done
        if entry & 3 != NONE:
            at = range_starts[number] + (entry >> 2)
            starts[t + 1] += decode_list(stream, at, entry & 3, lists.bits, n_padded, places[done:], impacts[done:])
    return starts, places, impacts


@compiled
def seek(places: NDArray[np.int32], start: int, end: int, place: int) -> int:
    """The first position from `start` whose place is not before `place`: galloping, then binary search."""
    if start >= end or places[start] >= place:
        return start
    step, low = 1, start
    while low + step < end and places[low + step] < place:
        low += step
        step *= 2
    high = min(low + step, end)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if places[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low
