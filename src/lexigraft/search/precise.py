"""Search of an index whose impacts have 16 or 24 bits: term at a time, with 64-bit sums.

Scores no longer share an integer with a tie rank, so the best are found by numpy: the k-th largest score first, then
those not below it, by score and `doc_id`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import HEADER, NONE, list_count
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
def precise_scores(
    lists: Lists, bits: int, terms: Terms, weights: Weights, allowed: Any, scores: NDArray[np.int64]
) -> None:
    """Add every document's score to `scores`; one that is not allowed has 0."""
    stream, range_size = lists.stream, lists.range_size
    for number in range(len(lists.range_starts) - 1):
        some = scores[number * range_size : (number + 1) * range_size]
        for t in range(len(terms)):
            entry = np.int64(lists.entries[number, terms[t]])
            if entry & 3 == NONE:
                continue
            at = lists.range_starts[number] + (entry >> 2)
            count, places = list_count(stream, at), at + HEADER
            impacts, weight = places + count, np.int64(weights[t])
            for i in range(count):
                impact = (
                    np.int64(stream[impacts + i])
                    if bits == 16
                    else np.int64(stream[impacts + 2 * i]) | np.int64(stream[impacts + 2 * i + 1]) << 16
                )
                some[stream[places + i]] += weight * impact
    if allowed is not None:
        for document in range(len(scores)):
            if allowed[document] == 0:
                scores[document] = 0
