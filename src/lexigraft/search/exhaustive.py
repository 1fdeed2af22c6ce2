"""Exhaustive scoring, term at a time: the oracle that every other method must equal.

Each query term's list is added into one accumulator per document, then every touched document is offered to the heap.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.topk import make_key, offer


@compiled
def search_exhaustive(
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
    """Fill `heap` with the best documents and return how many.

    `accumulators`, one a document, are 0 before and after.
    """
    for t in range(len(terms)):
        weight = weights[t]
        for i in range(indptr[terms[t]], indptr[terms[t] + 1]):
            accumulators[doc_ordinals[i]] += weight * np.int32(impacts[i])
    size = 0
    for document in range(len(accumulators)):
        score = accumulators[document]
        if score > 0:
            accumulators[document] = 0
            size = offer(heap, size, make_key(score, tie_rank[document]))
    return size
