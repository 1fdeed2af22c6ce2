"""Static pruning (P1): keep the heaviest terms of each row; ties keep the lower term id; 0 keeps all.

Below 1, what is kept is no number of terms but a share: the terms that weigh at least that part of the row's heaviest.
A short query then keeps few terms and a long one many; where it was measured, that ranked better at equal cost.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled, worth_loading
from lexigraft.core.errors import SettingError
from lexigraft.core.types import SparseMatrix

WORK_OF_A_TERM = 5  # of sorting rows without a kernel (see `worth_loading`)


def query_terms(keep: float) -> float:
    """What is kept of a query, checked: a number of terms, or a share of the heaviest weight below 1."""
    if not 0 <= keep < float("inf") or (keep > 1 and keep != int(keep)):
        allowed = "0 (the whole query), so many terms, or less than 1: that share of the heaviest weight or more"
        raise SettingError(f"qk = {keep} is not allowed: {allowed}")
    return int(keep) if keep == int(keep) else keep


def prune(matrix: SparseMatrix, keep: float) -> SparseMatrix:
    """`matrix` with at most `keep` terms a row (vocabulary study, section 3.4), or by their share."""
    indptr, term_ids, weights = prune_rows(matrix.indptr, matrix.term_ids, matrix.weights, keep)
    return SparseMatrix(matrix.row_ids, indptr, term_ids, weights, matrix.n_terms, matrix.vocab_fingerprint)


def prune_rows(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: float
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Prune bare CSR arrays to `keep` terms a row, or by their share, chunk by chunk of a stream; `indptr` may start
    anywhere."""
    if keep == 0:
        return indptr - indptr[0], term_ids, weights
    if keep < 1:
        return _prune_by_share(indptr - indptr[0], term_ids, weights, keep)
    return _heaviest(indptr - indptr[0], term_ids, weights, int(keep))


def prune_row(
    term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The `keep` heaviest terms of one row, or those of that share; 0 keeps all."""
    if keep == 0 or len(term_ids) <= keep:
        return term_ids, weights
    if keep < 1:
        stays = weights >= np.float32(keep) * weights.max()
        return term_ids[stays], weights[stays]
    return _heaviest(np.array([0, len(term_ids)]), term_ids, weights, int(keep))[1:]


def _heaviest(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    cut = prune_by_kernel if worth_loading(WORK_OF_A_TERM * len(term_ids)) else prune_by_numpy
    return cut(indptr, term_ids, weights, keep)


def prune_by_numpy(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The twin of `prune_by_kernel` for a process without kernels."""
    lengths = np.diff(indptr)
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((term_ids, -weights, row_of))  # row by row, the heaviest first, of equal ones the lower id
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - indptr[row_of]
    stays = place < keep
    kept = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.minimum(lengths, keep))))
    return kept, term_ids[stays], weights[stays]


def _prune_by_share(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], share: float
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    lengths = np.diff(indptr)
    there = lengths > 0
    heaviest = np.maximum.reduceat(weights, indptr[:-1][there]) if there.any() else np.zeros(0, np.float32)
    stays = weights >= np.repeat(np.float32(share) * heaviest, lengths[there])
    return np.concatenate(([0], np.cumsum(stays)))[indptr], term_ids[stays], weights[stays]


@compiled
def prune_by_kernel(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    n_rows = len(indptr) - 1
    new_indptr = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        new_indptr[row + 1] = new_indptr[row] + min(keep, indptr[row + 1] - indptr[row])
    new_terms = np.empty(new_indptr[-1], np.int32)
    new_weights = np.empty(new_indptr[-1], np.float32)
    for row in range(n_rows):
        start, end, n = indptr[row], indptr[row + 1], new_indptr[row]
        if end - start <= keep:
            new_terms[n : n + end - start] = term_ids[start:end]
            new_weights[n : n + end - start] = weights[start:end]
            continue
        # All above the lightest weight that is kept and, of those equal to it, the first: they have the lower ids.
        lightest = np.partition(weights[start:end], end - start - keep)[end - start - keep]
        n_equal = keep
        for at in range(start, end):
            n_equal -= weights[at] > lightest
        for at in range(start, end):
            if weights[at] == lightest:
                n_equal -= 1
            if weights[at] > lightest or (weights[at] == lightest and n_equal >= 0):
                new_terms[n], new_weights[n] = term_ids[at], weights[at]
                n += 1
    return new_indptr, new_terms, new_weights
