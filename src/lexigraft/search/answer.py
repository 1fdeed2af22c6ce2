"""A query vector to ranked documents in one call of compiled code: short queries cost little more than the call. More
than MANY are left to the caller to sort and unpack.

Chooses between `touched` and `sweep`, by what they cost where they were measured (docs/results/engines.md).
"""

from typing import Any

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int32s, Int64s, Uint16s
from lexigraft.core.compiled import compiled
from lexigraft.index.codec import NONE, list_count
from lexigraft.search.lists import Lists, Terms
from lexigraft.search.sweep import search_sweep
from lexigraft.search.topk import MANY, RANK_MASK
from lexigraft.search.touched import search_touched
from lexigraft.vectors.quantize import adds_up_in_32_bits, fill_query_integers, query_limits

AUTO, SWEEP, TOUCHED = 0, 1, 2
WRONG_TERMS, WRONG_WEIGHTS, TOO_LARGE_SUMS = -1, -2, -3
DOCUMENTS_PER_POSTING = 8  # a sweep passes over so many documents in the time by which noting a touched one is slower


@compiled
def answer(
    arrays: tuple[Any, ...],
    ordinal_of_rank: Int32s,
    scale: float,
    terms: Int32s,
    weights: Float32s,
    k: int,
    method: int,
    keys: Int64s,
    accumulators: Int32s,
    places: Uint16s,
    allowed: Any,
    counts: Any,
) -> tuple[int, float, Int32s, Float64s]:
    """(how many keys of the best documents `keys` holds, what a score of 1 stands for, documents, scores); the first is
    negative where something is wrong with the query, or its scores need 64 bits. Of more than MANY, documents and
    scores are left empty: the keys are for the caller to sort. `arrays` are those of `Lists`."""
    lists = Lists(*arrays)
    size, query_scale = WRONG_TERMS, 1.0
    if are_terms(terms, lists.entries.shape[1]):
        integers = np.empty(len(terms), np.int32)
        query_scale = fill_query_integers(weights, query_limits(lists.bits), integers)
        size = WRONG_WEIGHTS
        if query_scale > 0 and not adds_up_in_32_bits(integers.sum(), lists.bits):
            size = TOO_LARGE_SUMS
        elif query_scale > 0:
            touched = count_postings(lists, terms)
            if method == TOUCHED or (method == AUTO and touched * DOCUMENTS_PER_POSTING < len(lists.tie_rank)):
                size = search_touched(lists, terms, integers, k, keys, accumulators, places, allowed, counts)
            else:
                size = search_sweep(lists, terms, integers, k, keys, accumulators, allowed, counts)
    n_sorted = size if size > 0 and k <= MANY else 0
    sort_ascending(keys, n_sorted)
    ordinals, scores = unpack(keys[:n_sorted], ordinal_of_rank, query_scale * scale)
    return size, query_scale * scale, ordinals, scores


@compiled
def are_terms(terms: Int32s, n_terms: int) -> bool:
    """Whether each is a term, and none comes twice."""
    ascending = True
    for i in range(len(terms)):
        if not 0 <= terms[i] < n_terms:
            return False
        ascending = ascending and (i == 0 or terms[i - 1] < terms[i])
        if not ascending:
            for j in range(i):
                if terms[j] == terms[i]:
                    return False
    return True


@compiled
def count_postings(lists: Lists, terms: Terms) -> int:
    """How many postings (and fillers) the terms' lists have. It reads where each list begins, all at once, as it were:
    the search that follows then does not wait for one after the other."""
    total = 0
    for number in range(len(lists.range_starts) - 1):
        for t in range(len(terms)):
            entry = int(lists.entries[number, terms[t]])
            if entry & 3 != NONE:
                total += list_count(lists.stream, lists.range_starts[number] + (entry >> 2))
    return total


@compiled
def sort_ascending(keys: Int64s, size: int) -> None:
    """Insertion sort of keys[:size]."""
    for i in range(1, size):
        key, j = keys[i], i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@compiled
def unpack(keys: Int64s, ordinal_of_rank: Int32s, scale: float) -> tuple[Int32s, Float64s]:
    """(documents, scores), best first, of ascending keys."""
    n = len(keys)
    ordinals, scores = np.empty(n, np.int32), np.empty(n, np.float64)
    for i in range(n):
        key = keys[n - 1 - i]
        ordinals[i] = ordinal_of_rank[RANK_MASK - (key & np.int64(0xFFFFFFFF))]
        scores[i] = np.float64(key >> np.int64(32)) * scale
    return ordinals, scores
