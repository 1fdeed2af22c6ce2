"""MaxScore (Turtle and Flood, 1995), over windows of documents.

Lists are ordered by the most they can add. Once k documents are held, the longest prefix of lists that together cannot
reach the worst of them is *non-essential*: a document found only there can be skipped. Essential lists are added up
term at a time inside a window of documents that fits the first-level cache; the survivors are then completed from the
non-essential lists, largest bound first, and given up as soon as they cannot enter. A bound equal to the threshold is
never skipped, because a tie may still win by `doc_id`.
"""

from typing import Any

import numpy as np

from lexigraft.core.compiled import compiled
from lexigraft.search.counters import DOCUMENTS, NEXT, NEXT_GEQ, SCORE
from lexigraft.search.decoded import decode_lists, documents_in, seek
from lexigraft.search.lists import Keys, Lists, Terms, Weights
from lexigraft.search.topk import make_key, offer_counted

WINDOW = 4096


@compiled
def search_maxscore(lists: Lists, terms: Terms, weights: Weights, heap: Keys, allowed: Any, counts: Any) -> int:
    """The same contract as `search_exhaustive`."""
    n_lists, size, threshold = len(terms), 0, np.int64(1)
    window = np.zeros(WINDOW, np.int64)
    for number in range(len(lists.range_starts) - 1):
        first, n_here = number * lists.range_size, documents_in(lists, number)
        starts, places, impacts = decode_lists(lists, number, terms)
        bounds = np.zeros(n_lists, np.int64)
        for t in range(n_lists):
            for i in range(starts[t], starts[t + 1]):
                bounds[t] = max(bounds[t], np.int64(weights[t]) * np.int64(impacts[i]))
        order = np.argsort(bounds, kind="mergesort")
        prefix_bound = np.cumsum(bounds[order])
        cursors, ends = starts[:-1][order], starts[1:][order]
        first_essential, window_start = 0, 0
        while window_start < n_here:
            while first_essential < n_lists and prefix_bound[first_essential] < threshold:
                first_essential += 1
            # The next window begins at the first document any essential list still has.
            next_place = n_here
            for i in range(first_essential, n_lists):
                if cursors[i] < ends[i]:
                    next_place = min(next_place, int(places[cursors[i]]))
            if next_place == n_here:
                break
            window_start = max(window_start, next_place)
            window_end = min(window_start + WINDOW, n_here)
            for i in range(first_essential, n_lists):
                weight, at = np.int64(weights[order[i]]), cursors[i]
                while at < ends[i] and places[at] < window_end:
                    window[places[at] - window_start] += weight * np.int64(impacts[at])
                    at += 1
                if counts is not None:
                    counts[NEXT] += at - cursors[i]
                    counts[SCORE] += at - cursors[i]
                cursors[i] = at
            for place in range(window_start, window_end):
                score = window[place - window_start]
                if score == 0:
                    continue
                window[place - window_start] = 0
                if allowed is not None and allowed[first + place] == 0:
                    continue
                i = first_essential - 1
                while i >= 0 and score + prefix_bound[i] >= threshold:
                    cursors[i] = seek(places, cursors[i], ends[i], place)
                    if counts is not None:
                        counts[NEXT_GEQ] += 1
                    if cursors[i] < ends[i] and places[cursors[i]] == place:
                        score += np.int64(weights[order[i]]) * np.int64(impacts[cursors[i]])
                        if counts is not None:
                            counts[SCORE] += 1
                    i -= 1
                if counts is not None:
                    counts[DOCUMENTS] += 1
                if i < 0 and score >= threshold:
                    key = make_key(score, lists.tie_rank[first + place])
                    size = offer_counted(heap, size, key, counts)
                    if size == len(heap):
                        threshold = heap[0] >> np.int64(32)
            window_start = window_end
    return size
