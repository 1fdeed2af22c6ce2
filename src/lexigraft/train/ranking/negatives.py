"""Hard negatives: a ragged list of documents for every query, and the few that a step draws from it (F1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class HardNegatives(NamedTuple):
    """Query i has the document rows documents[indptr[i]..indptr[i + 1]], and beside each the teacher's score of it for
    that query, not a number where there is none."""

    indptr: NDArray[np.int64]
    documents: NDArray[np.int64]
    scores: NDArray[np.float32]


def draw(
    negatives: HardNegatives, queries: NDArray[np.int64], n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(document rows, teacher scores), [queries, n] each: n different negatives of each query, all sets of them alike
    likely. A query with fewer gets all it has; then come -1 and not a number.

    Floyd's sampling, for all queries at once: of the first m places one is drawn, and where it was drawn already the
    m-th itself is taken, for m from count - n + 1 to count.
    """
    starts, counts = negatives.indptr[queries], np.diff(negatives.indptr)[queries]
    chances = rng.random((n, len(queries)))
    wanted = np.minimum(counts, n)
    chosen = np.full((len(queries), n), -1, np.int64)
    for place in range(n):
        last = counts - wanted + place
        drawn = (chances[place] * (last + 1)).astype(np.int64)
        again = (chosen[:, :place] == drawn[:, None]).any(1)
        chosen[:, place] = np.where(place < wanted, np.where(again, last, drawn), -1)
    missing = chosen < 0
    at = np.where(missing, 0, starts[:, None] + chosen)
    if not len(negatives.documents):
        return chosen, np.full(chosen.shape, np.nan, np.float32)
    rows, scores = negatives.documents[at], negatives.scores[at]
    return np.where(missing, -1, rows), np.where(missing, np.float32(np.nan), scores)
