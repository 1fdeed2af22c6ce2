"""Static pruning (P1): keep the heaviest terms of each row; ties keep the lower term id; 0 keeps all.

Below 1, what is kept is no number of terms but a share: the terms that weigh at least that part of the row's heaviest.
A short query then keeps few terms and a long one many; where it was measured, that ranked better at equal cost.

By mass ("m0.8"), it is the fewest of the heaviest terms whose weights add up to that share of the row's sum: a row
whose weight lies on few terms keeps few. Sums are taken in double precision, the heaviest term first, and one that
falls short by rounding alone is enough. `core.cut` has the notation.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled, inlined, worth_loading
from lexigraft.core.cut import QueryCut, mass_of
from lexigraft.core.types import SparseMatrix

WORK_OF_A_TERM = 5  # of sorting rows without a kernel (see `worth_loading`)
ROUNDING = 1e-9  # of a sum

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def prune(matrix: SparseMatrix, keep: QueryCut) -> SparseMatrix:
    """`matrix` with at most `keep` terms a row (vocabulary study, section 3.4), or by their share, or by mass."""
    indptr, term_ids, weights = prune_rows(matrix.indptr, matrix.term_ids, matrix.weights, keep)
    return SparseMatrix(matrix.row_ids, indptr, term_ids, weights, matrix.n_terms, matrix.vocab_fingerprint)


def prune_rows(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: QueryCut
) -> Rows:
    """Prune bare CSR arrays to `keep` terms a row, or by their share, or by mass, chunk by chunk of a stream; `indptr`
    may start anywhere."""
    indptr = indptr - indptr[0]
    if isinstance(keep, str):
        return _heaviest(indptr, term_ids, weights, terms_of_mass(indptr, weights, float(mass_of(keep) or 0)))
    if keep == 0:
        return indptr, term_ids, weights
    if keep < 1:
        return _prune_by_share(indptr, term_ids, weights, keep)
    return _heaviest(indptr, term_ids, weights, np.minimum(np.diff(indptr), int(keep)))


def prune_row(
    term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: QueryCut
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The `keep` heaviest terms of one row, or those of that share or mass; 0 keeps all."""
    if not isinstance(keep, str):
        if keep == 0 or len(term_ids) <= keep:
            return term_ids, weights
        if keep < 1:
            stays = weights >= np.float32(keep) * weights.max()
            return term_ids[stays], weights[stays]
    return prune_rows(np.array([0, len(term_ids)]), term_ids, weights, keep)[1:]


def _heaviest(
    indptr: NDArray[np.int64],
    term_ids: NDArray[np.int32],
    weights: NDArray[np.float32],
    counts: NDArray[np.int64],
) -> Rows:
    """The `counts[row]` heaviest terms of each row."""
    cut = prune_by_kernel if worth_loading(WORK_OF_A_TERM * len(term_ids)) else prune_by_numpy
    return cut(indptr, term_ids, weights, counts)


def terms_of_mass(indptr: NDArray[np.int64], weights: NDArray[np.float32], share: float) -> NDArray[np.int64]:
    """How many of its heaviest terms each row needs for `share` of its mass."""
    count = _terms_of_mass if worth_loading(WORK_OF_A_TERM * len(weights)) else terms_of_mass_by_numpy
    return count(indptr, weights, share)


def terms_of_mass_by_numpy(indptr: NDArray[np.int64], weights: NDArray[np.float32], share: float) -> NDArray[np.int64]:
    """The twin of the kernel for a process without kernels: row by row."""
    counts = np.zeros(len(indptr) - 1, np.int64)
    for row in range(len(counts)):
        sums = np.cumsum(-np.sort(-weights[indptr[row] : indptr[row + 1]]), dtype=np.float64)
        if len(sums):
            counts[row] = 1 + np.searchsorted(sums[:-1], enough(share, sums[-1]))
    return counts


@inlined
def enough(share: float, total: float) -> float:
    """The sum that has `share` of `total`, less what rounding may take from it."""
    return share * total * (1 - ROUNDING)


@compiled
def _terms_of_mass(indptr: NDArray[np.int64], weights: NDArray[np.float32], share: float) -> NDArray[np.int64]:
    counts = np.zeros(len(indptr) - 1, np.int64)
    for row in range(len(counts)):
        ascending = np.sort(weights[indptr[row] : indptr[row + 1]])
        total = 0.0
        for at in range(len(ascending) - 1, -1, -1):
            total += ascending[at]
        kept, needed = 0.0, enough(share, total)
        for at in range(len(ascending) - 1, -1, -1):
            if counts[row] > 0 and kept >= needed:
                break
            kept += ascending[at]
            counts[row] += 1
    return counts


def prune_by_numpy(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], counts: NDArray[np.int64]
) -> Rows:
    """The twin of `prune_by_kernel` for a process without kernels."""
    lengths = np.diff(indptr)
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((term_ids, -weights, row_of))  # row by row, the heaviest first, of equal ones the lower id
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - indptr[row_of]
    stays = place < counts[row_of]
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))), term_ids[stays], weights[stays]


def _prune_by_share(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], share: float
) -> Rows:
    lengths = np.diff(indptr)
    there = lengths > 0
    heaviest = np.maximum.reduceat(weights, indptr[:-1][there]) if there.any() else np.zeros(0, np.float32)
    stays = weights >= np.repeat(np.float32(share) * heaviest, lengths[there])
    return np.concatenate(([0], np.cumsum(stays)))[indptr], term_ids[stays], weights[stays]


@compiled
def prune_by_kernel(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], counts: NDArray[np.int64]
) -> Rows:
    n_rows = len(indptr) - 1
    new_indptr = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        new_indptr[row + 1] = new_indptr[row] + counts[row]
    new_terms = np.empty(new_indptr[-1], np.int32)
    new_weights = np.empty(new_indptr[-1], np.float32)
    for row in range(n_rows):
        start, end, n, keep = indptr[row], indptr[row + 1], new_indptr[row], counts[row]
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
