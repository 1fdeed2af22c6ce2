"""The fastest exact search of short queries: nothing is looked at but what their lists touch.

A document is written down when its accumulator leaves 0, and only those are ranked. It costs more a posting than a
sweep, and nothing a document.
"""

from typing import Any

import numpy as np

from lexigraft.core.array_types import Bytes, Int32s, Uint16s
from lexigraft.core.compiled import compiled
from lexigraft.index.codec import DENSE, GAPS, HEADER, NONE, list_count, list_postings, padded
from lexigraft.search.counters import DOCUMENTS, INSERT, NEXT, SCORE
from lexigraft.search.lists import BEFORE_FIRST, Keys, Lists, Sums, Terms, Weights
from lexigraft.search.sweep import reached_by
from lexigraft.search.topk import MANY, cut_to_best, make_key


@compiled
def search_touched(
    lists: Lists,
    terms: Terms,
    weights: Weights,
    k: int,
    keys: Keys,
    accumulators: Sums,
    touched: Uint16s,
    allowed: Any,
    counts: Any,
) -> int:
    """The same contract as `search_sweep`; `touched` has room for every document of a range."""
    entries, stream, octets, range_starts, range_size, tie_rank, bits = lists
    n_documents = len(tie_rank)
    size, worst, threshold = 0, np.int64(0), np.int32(1)
    for number in range(len(range_starts) - 1):
        first, n = number * range_size, 0
        n_padded = padded(min(range_size, n_documents - first))
        for t in range(len(terms)):
            entry = int(entries[number, terms[t]])
            if entry & 3 != NONE and weights[t] > 0:
                at = range_starts[number] + (entry >> 2)
                n = add_touched(stream, octets, bits, at, entry & 3, n_padded, weights[t], accumulators, touched, n)
                if counts is not None:
                    counts[NEXT] += list_count(stream, at)
                    counts[SCORE] += list_postings(stream, at, entry & 3, bits)
        if allowed is None and size == 0 and n >= 2 * k:  # a key costs a look at the tie ranks: make few
            threshold = kth_score(accumulators, touched, n, k)
        for i in range(n):
            place = np.uint64(touched[i])
            score = accumulators[place]
            accumulators[place] = 0
            if score < threshold:
                continue
            document = np.uint64(first) + place
            key = make_key(score, tie_rank[document])
            keys[size] = key  # overwritten by the next one where it is not worth keeping
            size += int(key > worst and (allowed is None or allowed[document] != 0))
            if size == len(keys):
                worst, size = cut_to_best(keys, size, k), k
                threshold = np.int32(worst >> 32)
                if counts is not None:
                    counts[INSERT] += len(keys) - k
        if counts is not None:
            counts[DOCUMENTS] += n
    if counts is not None:
        counts[INSERT] += size
    if size > (k if k <= MANY else 2 * k):
        cut_to_best(keys, size, k)
        size = k
    return size


@compiled
def kth_score(accumulators: Int32s, touched: Uint16s, n: int, k: int) -> np.int32:
    """A score that at least k of the n touched documents reach, nearly the largest such."""
    scores, top = np.empty(n, np.int32), np.zeros(1, np.int32)
    for i in range(n):
        scores[i] = accumulators[touched[i]]
        top[0] = max(top[0], scores[i])
    return np.int32(max(np.int64(1), reached_by(scores, top, k)))


@compiled
def add_touched(
    stream: Uint16s,
    octets: Bytes,
    bits: int,
    at: int,
    form: int,
    n_padded: int,
    weight: np.int32,
    accumulators: Int32s,
    touched: Uint16s,
    n: int,
) -> int:
    """Add a list of any form, writing down after touched[:n] the places that were 0; return the new n."""
    count, body = list_count(stream, at), np.uint64(2 * (at + HEADER))
    if bits == 16:
        return add_fine_touched(stream, octets, at, form, n_padded, weight, accumulators, touched, n)
    if form == GAPS:
        place = BEFORE_FIRST
        for i in range(body, body + np.uint64(2 * count), np.uint64(2)):
            place += np.uint64(octets[i])
            n = touch(place, np.int32(octets[i + np.uint64(1)]) * weight, accumulators, touched, n)
    elif form == DENSE:
        for slot in range(np.uint64(n_padded)):
            n = touch(np.uint64(slot), np.int32(octets[body + np.uint64(slot)]) * weight, accumulators, touched, n)
    else:
        for i in range(np.uint64(count)):
            impact = np.int32(octets[body + np.uint64(2 * count) + i])
            n = touch(np.uint64(stream[np.uint64(at + HEADER) + i]), impact * weight, accumulators, touched, n)
    return n


@compiled
def add_fine_touched(
    stream: Uint16s,
    octets: Bytes,
    at: int,
    form: int,
    n_padded: int,
    weight: np.int32,
    accumulators: Int32s,
    touched: Uint16s,
    n: int,
) -> int:
    """The same of impacts of 16 bits."""
    count, body = list_count(stream, at), np.uint64(at + HEADER)
    if form == GAPS:
        place, gaps, impacts = BEFORE_FIRST, np.uint64(2) * body, body + np.uint64((count + 1) // 2)
        for i in range(np.uint64(count)):
            place += np.uint64(octets[gaps + i])
            n = touch(place, np.int32(stream[impacts + i]) * weight, accumulators, touched, n)
    elif form == DENSE:
        for at_place in range(np.uint64(n_padded)):
            n = touch(np.uint64(at_place), np.int32(stream[body + at_place]) * weight, accumulators, touched, n)
    else:
        impacts = body + np.uint64(count)
        for i in range(np.uint64(count)):
            n = touch(np.uint64(stream[body + i]), np.int32(stream[impacts + i]) * weight, accumulators, touched, n)
    return n


@compiled
def touch(place: np.uint64, amount: np.int32, accumulators: Int32s, touched: Uint16s, n: int) -> int:
    """Add `amount` at `place`; a filler's is 0 and touches nothing."""
    before = accumulators[place]
    accumulators[place] = before + amount
    touched[n] = place  # overwritten by the next one where it does not count: cheaper than a branch
    return n + int((before == 0) & (amount > 0))
