"""Exhaustive scoring, term at a time: the oracle that every other method must equal.

Each query term's list is decoded and added into one accumulator a document, then every document that has a score is
offered to the heap.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.counters import INSERT, NEXT, SCORE
from lexigraft.search.decoded import decode_lists
from lexigraft.search.topk import make_key, offer


@compiled
def search_exhaustive(
    entries: NDArray[np.uint32],
    stream: NDArray[np.uint16],
    range_starts: NDArray[np.int64],
    range_size: int,
    tie_rank: NDArray[np.int32],
    terms: NDArray[np.int32],
    weights: NDArray[np.int32],
    heap: NDArray[np.int64],
    allowed: Any,
    counts: Any,
) -> int:
    """Fill `heap`, which has room for k, with the keys of the best documents and return how many. `allowed` and
    `counts`
    as of `search_sweep`."""
    size = 0
    for number in range(len(range_starts) - 1):
        first = number * range_size
        n_here = min(range_size, len(tie_rank) - first)
        starts, places, impacts = decode_lists(entries, stream, range_starts, number, n_here, terms)
        scores = np.zeros(n_here, np.int64)
        for t in range(len(terms)):
            for i in range(starts[t], starts[t + 1]):
                scores[places[i]] += np.int64(weights[t]) * np.int64(impacts[i])
        if counts is not None:
            counts[NEXT] += starts[len(terms)]  # there is room for more, where a list is dense
        for place in range(n_here):
            if scores[place] > 0 and (allowed is None or allowed[first + place] != 0):
                key = make_key(scores[place], tie_rank[first + place])
                if counts is not None:
                    counts[SCORE] += 1
                    counts[INSERT] += size < len(heap) or key > heap[0]
                size = offer(heap, size, key)
    return size
