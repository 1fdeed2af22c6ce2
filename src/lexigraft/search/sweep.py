"""The fastest exact search of long queries: add up everything, look closely only where a good score is.

Range by range of documents, every query term's list is added into one accumulator a document; dense rows are added
many documents at a time, in 16 bits where the sums fit. A sweep over the accumulators then finds the largest score of
each block of documents, which the compiler does with vector instructions and without a branch. Only blocks that hold a
score worth keeping are looked into: of the first range, the k-th largest block maximum already bounds what that is. A
range in which even all lists' largest impacts together are too little is not read at all.

Why not skip more: with learned weights the sum of a query's bounds is three to ten times the k-th score, so bounds of
blocks of hundreds of documents exclude few of them (docs/results/engines.md), while adding a posting takes a
nanosecond.
"""

from typing import Any

import numpy as np

from lexigraft.core.array_types import Bytes, Int32s, Int64s, Uint16s
from lexigraft.core.compiled import compiled
from lexigraft.index.codec import DENSE, GAPS, HEADER, WIDE, list_count, list_max, list_postings, padded
from lexigraft.search.counters import DOCUMENTS, INSERT, NEXT, SCORE
from lexigraft.search.lists import (
    Keys,
    Lists,
    Sums,
    Terms,
    Weights,
    add_dense,
    add_fine_dense,
    add_gaps,
    add_wide,
    flush,
)
from lexigraft.search.topk import MANY, cut_to_best, make_key
from lexigraft.vectors.quantize import MAX_SCORE

GROUP = 1024  # documents in which blocks interleave
STRIDE = 64  # a block is every 64th document of a group, 16 in all: maxima are then found side by side
CHUNK = 4096  # documents whose dense rows are added while they are in the first-level cache
MOST_16_BITS = 65535
SLICES = 1024


@compiled
def search_sweep(
    lists: Lists, terms: Terms, weights: Weights, k: int, keys: Keys, accumulators: Sums, allowed: Any, counts: Any
) -> int:
    """Put the keys of the k best documents into the front of `keys`, in no order, and return how many; of more than
    MANY there may be up to k others with them, which a sort puts behind.

    `keys` has room for `buffer_size(k)`; `accumulators`, one for every document of a padded range, are 0 before and
    after; `allowed`, None or one byte a document, says which may be found; `counts`, None or one number a counter,
    counts.
    """
    n_ranges, n_documents = len(lists.range_starts) - 1, len(lists.tie_rank)
    size, worst, threshold = 0, np.int64(0), np.int64(1)
    n_groups = (len(accumulators) + GROUP - 1) // GROUP
    maxima, tops = np.zeros(n_groups * STRIDE, np.int32), np.empty(n_groups, np.int32)
    lanes, found, sums = np.empty(STRIDE + 1, np.int32), np.empty(GROUP + 1, np.int32), np.zeros(CHUNK, np.uint16)
    for number in range(n_ranges):
        if size == k and range_bound(lists, number, terms, weights) < threshold:
            continue
        first = number * lists.range_size
        n_here = min(lists.range_size, n_documents - first)
        n_padded = padded(n_here)
        n_postings = add_lists(lists, number, n_padded, terms, weights, sums, accumulators)
        if allowed is not None:
            for i in range(n_here):
                accumulators[i] *= np.int32(allowed[first + i] != 0)
        n_groups = block_maxima(accumulators, n_padded, maxima, tops)
        if size == 0 and 2 * k <= n_groups * STRIDE:
            threshold = max(threshold, reached_by(maxima[: n_groups * STRIDE], tops[:n_groups], k))
            worst = (threshold << 32) - 1
        for group in range(n_groups):
            if tops[group] < threshold:
                continue
            n_found = find_reaching(accumulators, maxima, group, n_here, threshold, lanes, found)
            for i in range(n_found):
                place = np.int64(found[i])
                key = make_key(accumulators[place], lists.tie_rank[first + place])
                keys[size] = key  # overwritten by the next one where it is not worth keeping
                size += int(key > worst)
                if size == len(keys):
                    worst, size = cut_to_best(keys, size, k), k
                    threshold = worst >> 32
                    if counts is not None:
                        counts[INSERT] += len(keys) - k
        if counts is not None:
            counts[NEXT] += n_postings
            counts[SCORE] += postings_of(lists, number, terms)
            counts[DOCUMENTS] += np.count_nonzero(accumulators[:n_padded])
        accumulators[:n_padded] = 0
        if size > (2 * k if number == n_ranges - 1 and k > MANY else k):
            if counts is not None:
                counts[INSERT] += size - k
            worst, size = cut_to_best(keys, size, k), k
            threshold = worst >> 32
    if counts is not None:
        counts[INSERT] += size  # with what each cut left out: all that were accepted
    return size


@compiled
def range_bound(lists: Lists, number: int, terms: Int32s, weights: Int32s) -> np.int64:
    """The most that a document of a range can score; lists of 16 bits do not say their largest impacts."""
    if lists.bits != 8:
        return np.int64(MAX_SCORE)
    bound = np.int64(0)
    for t in range(len(terms)):
        entry = np.int64(lists.entries[number, terms[t]])
        if entry > 0:
            bound += np.int64(weights[t]) * list_max(lists.stream, lists.range_starts[number] + (entry >> 2))
    return bound


@compiled
def add_lists(
    lists: Lists, number: int, n_padded: int, terms: Int32s, weights: Int32s, sums: Uint16s, accumulators: Int32s
) -> int:
    """Add all the terms' lists of a range, dense ones last and together; return how many postings (and fillers)."""
    n_terms, n_rows, n_postings = len(terms), 0, 0
    rows, row_weights, largest = np.empty(n_terms, np.int64), np.empty(n_terms, np.int32), np.empty(n_terms, np.int64)
    for t in range(n_terms):
        entry = np.int64(lists.entries[number, terms[t]])
        form, at = entry & 3, lists.range_starts[number] + (entry >> 2)
        if form == GAPS:
            n_postings += add_gaps(lists.stream, lists.octets, lists.bits, at, weights[t], accumulators)
        elif form == WIDE:
            n_postings += add_wide(lists.stream, lists.octets, lists.bits, at, weights[t], accumulators)
        elif form == DENSE:
            rows[n_rows], row_weights[n_rows], largest[n_rows] = at + HEADER, weights[t], list_max(lists.stream, at)
            n_rows += 1
            n_postings += list_count(lists.stream, at)
    if n_rows > 0:
        if lists.bits == 8:
            add_rows(lists.octets, 2 * rows, row_weights, largest, n_rows, n_padded, sums, accumulators)
        else:
            add_fine_rows(lists.stream, rows, row_weights, n_rows, n_padded, accumulators)
    return n_postings


@compiled
def postings_of(lists: Lists, number: int, terms: Terms) -> int:
    """How many postings, without fillers, the terms' lists of a range have."""
    n = 0
    for t in range(len(terms)):
        entry = int(lists.entries[number, terms[t]])
        if entry > 0:
            n += list_postings(lists.stream, lists.range_starts[number] + (entry >> 2), entry & 3, lists.bits)
    return n


@compiled
def reached_by(maxima: Int32s, tops: Int32s, k: int) -> np.int64:
    """A score, nearly the largest, that at least k of `maxima` reach; `tops` hold the largest of all. By counting them
    in slices of equal height: a fraction of the time of a selection."""
    top = np.int64(0)
    for group in range(len(tops)):
        top = max(top, np.int64(tops[group]))
    shift = np.int64(0)
    while top >> shift >= SLICES:
        shift += 1
    heights = np.zeros(SLICES, np.int32)
    for block in range(len(maxima)):
        heights[maxima[block] >> shift] += 1
    at, n = SLICES - 1, np.int64(heights[SLICES - 1])
    while n < k:
        at -= 1
        n += heights[at]
    return np.int64(at) << shift


@compiled
def find_reaching(
    accumulators: Int32s, maxima: Int32s, group: int, n_here: int, threshold: np.int64, lanes: Int32s, found: Int32s
) -> int:
    """Fill `found` with the places in a group whose scores reach the threshold; return how many. Without branches on
    scores, which no processor can foresee: what does not count is overwritten."""
    n_lanes, n_found, start = 0, 0, group * GROUP
    end = min(start + GROUP, n_here)
    for lane in range(STRIDE):
        lanes[n_lanes] = lane
        n_lanes += int(maxima[group * STRIDE + lane] >= threshold)
    for i in range(n_lanes):
        for place in range(start + lanes[i], end, STRIDE):
            found[n_found] = place
            n_found += int(accumulators[place] >= threshold)
    return n_found


@compiled
def add_rows(
    octets: Bytes,
    rows: Int64s,
    weights: Int32s,
    largest: Int64s,
    n_rows: int,
    n_padded: int,
    sums: Uint16s,
    accumulators: Int32s,
) -> None:
    """Add the dense rows that begin at octets `rows`; `sums`, CHUNK of them, are 0 before and after."""
    for start in range(0, n_padded, CHUNK):
        end, bound = min(start + CHUNK, n_padded), np.int64(0)
        some, into = sums[: end - start], accumulators[start:end]
        for r in range(n_rows):
            most = np.int64(weights[r]) * largest[r]
            if bound + most > MOST_16_BITS:
                flush(some, into)
                bound = np.int64(0)
            add_dense(octets[rows[r] + start : rows[r] + end], weights[r], some)
            bound += most
        flush(some, into)


@compiled
def add_fine_rows(
    stream: Uint16s, rows: Int64s, weights: Int32s, n_rows: int, n_padded: int, accumulators: Int32s
) -> None:
    """Add the dense rows of impacts of 16 bits that begin at words `rows`."""
    for start in range(0, n_padded, CHUNK):
        end = min(start + CHUNK, n_padded)
        for r in range(n_rows):
            add_fine_dense(stream[rows[r] + start : rows[r] + end], weights[r], accumulators[start:end])


@compiled
def block_maxima(accumulators: Int32s, n_padded: int, maxima: Int32s, tops: Int32s) -> int:
    """Fill `maxima` with the largest of every block, STRIDE of them a group, and `tops` with that of every group;
    return how many groups."""
    n_groups = (n_padded + GROUP - 1) // GROUP
    for group in range(n_groups):
        lanes = maxima[group * STRIDE : group * STRIDE + STRIDE]
        lanes[:] = 0
        for start in range(group * GROUP, min(group * GROUP + GROUP, n_padded), STRIDE):
            some = accumulators[start : start + STRIDE]
            for lane in range(STRIDE):
                lanes[lane] = max(lanes[lane], some[lane])
        top = np.int32(0)
        for lane in range(STRIDE):
            top = max(top, lanes[lane])
        tops[group] = top
    return n_groups
