"""What rows of terms must be before anything is made of them: ascending, distinct, inside the vocabulary."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError


def require_rows(indptr: NDArray[np.int64], term_ids: NDArray[np.int32], n_terms: int, first_row: int = 0) -> None:
    """Raise `InputError` unless each row's term ids are ascending, distinct and in 0 .. n_terms - 1. `first_row` is
    the number of the first of these rows where they are a part of a larger matrix."""
    row = first_bad_row(indptr, term_ids, n_terms)
    if row >= 0:
        found = term_ids[indptr[row] : indptr[row + 1]][:8].tolist()
        raise InputError(
            f"row {first_row + row} has the term ids {found} ...: they must be ascending, distinct and in "
            f"0 .. {n_terms - 1}; sort each row's terms, add up repeated ones, give the size of the whole vocabulary"
        )


@compiled
def first_bad_row(indptr: NDArray[np.int64], term_ids: NDArray[np.int32], n_terms: int) -> int:
    """The first row whose term ids are not ascending and in 0 .. n_terms - 1, or -1."""
    for row in range(len(indptr) - 1):
        latest = -1
        for at in range(indptr[row], indptr[row + 1]):
            if not latest < term_ids[at] < n_terms:
                return row
            latest = term_ids[at]
    return -1
