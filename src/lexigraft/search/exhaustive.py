"""Exhaustive scoring, term at a time: the oracle that every other method must equal.

Each query term's list is decoded and added into one accumulator a document, then every document that has a score is
offered to the heap.
"""

from typing import Any

import numpy as np

from lexigraft.core.compiled import compiled
from lexigraft.search.counters import DOCUMENTS, NEXT, SCORE
from lexigraft.search.decoded import decode_lists, documents_in
from lexigraft.search.lists import Keys, Lists, Terms, Weights
from lexigraft.search.topk import make_key, offer_counted


@compiled
def search_exhaustive(lists: Lists, terms: Terms, weights: Weights, heap: Keys, allowed: Any, counts: Any) -> int:
    """Fill `heap`, which has room for k, with the keys of the best documents and return how many. `allowed` and
    `counts` as of `search_sweep`."""
    size = 0
    for number in range(len(lists.range_starts) - 1):
        first, n_here = number * lists.range_size, documents_in(lists, number)
        starts, places, impacts = decode_lists(lists, number, terms)
        scores = np.zeros(n_here, np.int64)
        for t in range(len(terms)):
            for i in range(starts[t], starts[t + 1]):
                scores[places[i]] += np.int64(weights[t]) * np.int64(impacts[i])
        if counts is not None:
            counts[NEXT] += starts[len(terms)]  # there is room for more, where a list is dense
            counts[SCORE] += starts[len(terms)]
        for place in range(n_here):
            if scores[place] > 0 and (allowed is None or allowed[first + place] != 0):
                key = make_key(scores[place], lists.tie_rank[first + place])
                if counts is not None:
                    counts[DOCUMENTS] += 1
                size = offer_counted(heap, size, key, counts)
    return size
