"""Static pruning (P1): keep the heaviest terms of each row; ties keep the lower term id; 0 keeps all."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.core.types import SparseMatrix


def prune(matrix: SparseMatrix, keep: int) -> SparseMatrix:
    """`matrix` with at most `keep` terms a row (vocabulary study, section 3.4)."""
    indptr, term_ids, weights = prune_rows(matrix.indptr, matrix.term_ids, matrix.weights, keep)
    return SparseMatrix(matrix.row_ids, indptr, term_ids, weights, matrix.n_terms, matrix.vocab_fingerprint)


def prune_rows(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Prune bare CSR arrays to `keep` terms a row, chunk by chunk of a stream; `indptr` may start anywhere."""
    if keep == 0:
        return indptr - indptr[0], term_ids, weights
    return _prune_rows(indptr - indptr[0], term_ids, weights, keep)


def prune_row(
    term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The `keep` heaviest terms of one row; 0 keeps all."""
    if keep == 0 or len(term_ids) <= keep:
        return term_ids, weights
    return _prune_rows(np.array([0, len(term_ids)]), term_ids, weights, keep)[1:]


@compiled
def _prune_rows(
    indptr: NDArray[np.int64], term_ids: NDArray[np.int32], weights: NDArray[np.float32], keep: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    n_rows = len(indptr) - 1
    new_indptr = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        new_indptr[row + 1] = new_indptr[row] + min(keep, indptr[row + 1] - indptr[row])
    new_terms = np.empty(new_indptr[-1], np.int32)
    new_weights = np.empty(new_indptr[-1], np.float32)
    for row in range(n_rows):
        start, end = indptr[row], indptr[row + 1]
        # A stable sort of ascending term ids breaks ties in favour of the lower one.
        heaviest = np.argsort(-weights[start:end], kind="mergesort")[:keep]
        kept = np.sort(heaviest) + start
        for i in range(len(kept)):
            new_terms[new_indptr[row] + i] = term_ids[kept[i]]
            new_weights[new_indptr[row] + i] = weights[kept[i]]
    return new_indptr, new_terms, new_weights
