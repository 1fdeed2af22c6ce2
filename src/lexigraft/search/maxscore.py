"""MaxScore (Turtle and Flood, 1995), over windows of documents.

Lists are ordered by the most they can add. Once k documents are held, the longest prefix of lists that together cannot
reach the worst of them is *non-essential*: a document found only there can be skipped. Essential lists are added up
term at a time inside a window of documents that fits the first-level cache; the survivors are then completed from the
non-essential lists, largest bound first, and given up as soon as they cannot enter. A bound equal to the threshold is
never skipped, because a tie may still win by `doc_id`.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.topk import make_key, offer

WINDOW = 4096


@compiled
def search_maxscore(
    indptr: NDArray[np.int64],
    doc_ordinals: NDArray[np.int32],
    impacts: NDArray[np.uint8],
    list_max: NDArray[np.uint8],
    tie_rank: NDArray[np.int32],
    terms: NDArray[np.int32],
    weights: NDArray[np.int32],
    heap: NDArray[np.int64],
    accumulators: NDArray[np.int32],
) -> int:
    """The same contract as `search_exhaustive`."""
    n_lists = len(terms)
    bounds = np.empty(n_lists, np.int64)
    for t in range(n_lists):
        bounds[t] = np.int64(weights[t]) * np.int64(list_max[terms[t]])
    order = np.argsort(bounds, kind="mergesort")
    prefix_bound = np.cumsum(bounds[order])
    cursors, ends = np.empty(n_lists, np.int64), np.empty(n_lists, np.int64)
    for i in range(n_lists):
        cursors[i], ends[i] = indptr[terms[order[i]]], indptr[terms[order[i]] + 1]

    size, threshold, first_essential = 0, np.int64(0), 0
    n_documents = len(tie_rank)
    window_start = 0
    while window_start < n_documents:
        while first_essential < n_lists and prefix_bound[first_essential] < threshold:
            first_essential += 1
        # The next window begins at the first document any essential list still has.
        next_document = n_documents
        for i in range(first_essential, n_lists):
            if cursors[i] < ends[i]:
                next_document = min(next_document, doc_ordinals[cursors[i]])
        if next_document == n_documents:
            break
        window_start = max(window_start, next_document)
        window_end = min(window_start + WINDOW, n_documents)
        for i in range(first_essential, n_lists):
            weight, at = weights[order[i]], cursors[i]
            while at < ends[i] and doc_ordinals[at] < window_end:
                accumulators[doc_ordinals[at] - window_start] += weight * np.int32(impacts[at])
                at += 1
            cursors[i] = at
        for document in range(window_start, window_end):
            score = np.int64(accumulators[document - window_start])
            if score == 0:
                continue
            accumulators[document - window_start] = 0
            i = first_essential - 1
            while i >= 0 and score + prefix_bound[i] >= threshold:
                at = seek(doc_ordinals, cursors[i], ends[i], document)
                cursors[i] = at
                if at < ends[i] and doc_ordinals[at] == document:
                    score += np.int64(weights[order[i]]) * np.int64(impacts[at])
                i -= 1
            if i < 0 and score >= threshold:
                size = offer(heap, size, make_key(score, tie_rank[document]))
                if size == len(heap):
                    threshold = heap[0] >> np.int64(32)
        window_start = window_end
    return size


@compiled
def seek(doc_ordinals: NDArray[np.int32], start: int, end: int, document: int) -> int:
    """The first position from `start` whose document is not before `document`: galloping, then binary search."""
    if start >= end or doc_ordinals[start] >= document:
        return start
    step, low = 1, start
    while low + step < end and doc_ordinals[low + step] < document:
        low += step
        step *= 2
    high = min(low + step, end)
    low += 1
    while low < high:
        middle = (low + high) >> 1
        if doc_ordinals[middle] < document:
            low = middle + 1
        else:
            high = middle
    return low
