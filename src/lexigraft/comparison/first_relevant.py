"""Kernels that find at which rank a query's first relevant document stands, some documents at a time.

Documents come in chunks, with the rank of every weight within its row: entries beyond the `keep` heaviest of a row do
not count (0: all count). A first pass finds the best score of a relevant document; a second turns a chunk into inverted
lists and counts the documents ahead. Both add up a query's terms in the same order.
"""

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled

TIED = 1e-6  # of a score: sums that differ by rounding alone


@compiled
def best_relevant(
    q_indptr: Int64s, q_terms: Int32s, q_weights: Float32s, wanted: Int64s, rows: Int64s, first: int,
    indptr: Int64s, terms: Int32s, weights: Float32s, ranks: Int32s, keep: int,
    order: Int64s, best: Float32s, place: Int64s,
) -> None:  # fmt: skip
    """Raise `best` to the score of query `wanted[i]` with the document `rows[i]`, for those in this chunk, which begins
    with the document `first`; `place` is the document's place among the ids, the lowest of equal scores."""
    for i in range(len(wanted)):
        row = rows[i] - first
        if row < 0 or row >= len(indptr) - 1:
            continue
        query, score = wanted[i], np.float32(0)
        at, end = q_indptr[query], q_indptr[query + 1]
        for entry in range(indptr[row], indptr[row + 1]):
            if keep > 0 and ranks[entry] > keep:
                continue
            while at < end and q_terms[at] < terms[entry]:
                at += 1
            if at < end and q_terms[at] == terms[entry]:
                score += weights[entry] * q_weights[at]
        if score > best[query] or (score == best[query] and order[rows[i]] < place[query]):
            best[query], place[query] = score, order[rows[i]]


@compiled
def inverted(
    indptr: Int64s, terms: Int32s, weights: Float32s, ranks: Int32s, keep: int, n_terms: int
) -> tuple[Int64s, Int32s, Float32s]:
    """The lists of a chunk: (where each term's begins, rows, weights)."""
    starts = np.zeros(n_terms + 1, np.int64)
    for entry in range(len(terms)):
        if keep == 0 or ranks[entry] <= keep:
            starts[terms[entry] + 1] += 1
    for term in range(n_terms):
        starts[term + 1] += starts[term]
    free, list_rows = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    list_weights = np.empty(starts[-1], np.float32)
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            if keep == 0 or ranks[entry] <= keep:
                at = free[terms[entry]]
                list_rows[at], list_weights[at] = row, weights[entry]
                free[terms[entry]] += 1
    return starts, list_rows, list_weights


@compiled
def count_ahead(
    q_indptr: Int64s, q_terms: Int32s, q_weights: Float32s, first: int, n_rows: int,
    starts: Int64s, list_rows: Int32s, list_weights: Float32s,
    order: Int64s, best: Float32s, place: Int64s, ahead: Int64s, depth: int,
) -> None:  # fmt: skip
    """Add to `ahead` the documents of this chunk that a search ranks before the best relevant one. A query is left
    alone where there is none or `depth` documents are ahead already."""
    scores = np.zeros(n_rows, np.float32)
    for query in range(len(best)):
        own = best[query]
        if own <= 0 or ahead[query] >= depth:
            continue
        scores[:] = 0
        for at in range(q_indptr[query], q_indptr[query + 1]):
            weight = q_weights[at]
            for entry in range(starts[q_terms[at]], starts[q_terms[at] + 1]):
                scores[list_rows[entry]] += list_weights[entry] * weight
        low, high, n = own - own * np.float32(TIED), own + own * np.float32(TIED), 0
        for row in range(n_rows):
            if scores[row] > high or (scores[row] >= low and order[first + row] < place[query]):
                n += 1
        ahead[query] += n
