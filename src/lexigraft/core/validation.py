"""What validators of several rooms share: arrays of other makers are as long as they must be, and point inside.

Each function raises `ArtifactError` naming the file, and takes arrays that are open already: a file opened again by its
name could be another one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import MADE_ELSEWHERE

AT_ONCE = 1 << 21  # numbers that are looked at together


def wrong(file: Path, what: str) -> ArtifactError:
    """What to raise of a file that must not be believed."""
    return ArtifactError(f"{file} {what}: {MADE_ELSEWHERE}")


def require_length(file: Path, found: int, wanted: int, what: str = "numbers") -> None:
    if found != wanted:
        raise wrong(file, f"has {found} {what} instead of {wanted}")


def require_within(file: Path, array: NDArray[Any], least: int, end: int) -> None:
    """Every number is from `least` to less than `end`."""
    for part in parts(array):
        if len(part) and not (int(part.min()) >= least and int(part.max()) < end):
            raise wrong(file, f"holds numbers outside of {least} to {end - 1}")


def require_permutation(file: Path, array: NDArray[Any], length: int) -> None:
    """The numbers from 0 to `length` - 1, each once."""
    require_length(file, len(array), length)
    require_within(file, array, 0, length)
    seen = np.zeros(length, bool)
    seen[array] = True
    if not seen.all():
        raise wrong(file, "holds a number twice")


def require_pointers(file: Path, indptr: NDArray[np.int64], n_rows: int, n_entries: int) -> None:
    """Where rows begin: from 0 to the number of entries, never going back."""
    require_length(file, len(indptr), n_rows + 1)
    if indptr[0] != 0 or indptr[-1] != n_entries or (indptr[1:] < indptr[:-1]).any():
        raise wrong(file, f"does not say where {n_rows} rows of {n_entries} entries begin")


def require_ascending_rows(file: Path, indptr: NDArray[np.int64], ids: NDArray[np.int32], n_ids: int) -> None:
    """Within each row numbers ascend, each once; all are less than `n_ids`."""
    require_within(file, ids, 0, n_ids)
    for start in range(0, len(ids) - 1, AT_ONCE):
        part = ids[start : start + AT_ONCE + 1]
        falls = np.flatnonzero(part[1:] <= part[:-1]) + start + 1  # only where another row begins
        if len(falls) and (indptr[np.searchsorted(indptr, falls)] != falls).any():
            raise wrong(file, "has a row whose terms do not ascend")


def require_positive(file: Path, weights: NDArray[Any]) -> None:
    """Every weight is finite and above 0."""
    for part in parts(weights):
        if len(part) and not (part.min() > 0 and np.isfinite(part.max())):  # false for what is not a number, too
            raise wrong(file, "holds weights that are not finite and above 0")


def require_finite(file: Path, array: NDArray[Any], least: float = -np.inf, most: float = np.inf) -> None:
    """Every number is finite, and between both."""
    for part in parts(array):
        if part.size and not (np.isfinite(part).all() and part.min() >= least and part.max() <= most):
            within = "" if least == -np.inf else f" and from {least:g} to {most:g}"
            raise wrong(file, f"holds numbers that are not finite{within}")


def parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The array in pieces."""
    for start in range(0, len(array), AT_ONCE):
        yield array[start : start + AT_ONCE]
