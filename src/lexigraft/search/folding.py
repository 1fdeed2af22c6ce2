"""Documents in passages: a search for passages becomes one for documents, each with the score of its best passage."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.int32], NDArray[np.float64]]


def search_folded(search_rows: Callable[[int], Rows], document_rank: NDArray[np.int32], k: int) -> Rows:
    """The k best documents as (their best row, its score), ties by the document's rank.

    `search_rows(depth)` gives the best rows, by score. How deep the k-th document lies is not known beforehand, so the
    depth doubles until k documents are found and nothing of equal score can follow.
    """
    depth = 2 * k
    while True:
        rows, scores = search_rows(depth)
        first = np.sort(np.unique(document_rank[rows], return_index=True)[1])  # the best row of each document
        whole = len(rows) < depth
        if whole or (len(first) >= k and scores[first[k - 1]] > scores[-1]):
            order = np.lexsort((document_rank[rows[first]], -scores[first]))[:k]
            return rows[first[order]], scores[first[order]]
        depth = min(2 * depth, len(document_rank) + 1)
