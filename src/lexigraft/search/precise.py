"""Search where scores need 64 bits: impacts of 24, or of 16 and a query of large whole numbers or very many terms.

Scores no longer share an integer with a tie rank, so the best are found by numpy: the k-th largest score first, then
those not below it, by score and `doc_id`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.search.decoded import decode_lists
from lexigraft.search.lists import Lists, Terms, Weights


def search_precise(
    scores: NDArray[np.int64], tie_rank: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(documents, their scores) of the k best that have a score."""
    found = np.flatnonzero(scores)
    if len(found) > k:
        kth = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= kth]
    best = found[np.lexsort((tie_rank[found], -scores[found]))[:k]]
    return best, scores[best]


@compiled
def precise_scores(lists: Lists, terms: Terms, weights: Weights, allowed: Any, scores: NDArray[np.int64]) -> None:
    """Add every document's score to `scores`; one that is not allowed has 0."""
    for number in range(len(lists.range_starts) - 1):
        some = scores[number * lists.range_size : (number + 1) * lists.range_size]
        starts, places, impacts = decode_lists(lists, number, terms)
        for t in range(len(terms)):
            for i in range(starts[t], starts[t + 1]):
                some[places[i]] += np.int64(weights[t]) * np.int64(impacts[i])
    if allowed is not None:
        for document in range(len(scores)):
            if allowed[document] == 0:
                scores[document] = 0
