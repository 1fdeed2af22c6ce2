"""Vectors as rows of whole numbers whose products are exact.

Made of one length and rounded, rows are so short that no sum of their products exceeds what float32 counts exactly. A
product of matrices then has the same bits whatever library, threads and blocks compute it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Float64s, Int64s
from lexigraft.core.errors import InputError

Vectors = NDArray[np.floating[Any]]
LONGEST = 1 << 12  # its square is the last whole number up to which float32 has all
AT_ONCE = 4096  # rows


class WholeRows(NamedTuple):
    """`numbers` [rows, width]; `ids`, which of the rows are not zeros; `lengths` [rows], as they were given."""

    numbers: NDArray[np.int16]
    ids: Int64s
    lengths: Float64s

    def take(self, ids: Int64s) -> Float32s:
        return self.numbers[ids].astype(np.float32)


def whole_rows(vectors: Vectors, name: str) -> WholeRows:
    """All rows of `vectors`; `name` is how an error calls them."""
    lengths = np.empty(len(vectors))
    numbers = np.zeros(vectors.shape, np.int16)
    for block, ids in whole_blocks(vectors, name, lengths):
        numbers[ids] = block
    return WholeRows(numbers, np.flatnonzero(lengths), lengths)


def whole_blocks(vectors: Vectors, name: str, lengths: Float64s) -> Iterator[tuple[Float32s, Int64s]]:
    """The rows of `vectors` that are not zeros in float32, a block at a time, and which they are; `lengths` is filled
    with those that they had."""
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise InputError(
            f"{name}: an array of {vectors.dtype} with the shape {vectors.shape}; rows of float16 or float32 are needed"
        )
    longest = LONGEST - np.ceil(np.sqrt(vectors.shape[1]) / 2)  # rounding adds no more than that
    for start in range(0, len(vectors), AT_ONCE):
        block = np.asarray(vectors[start : start + AT_ONCE], np.float64)
        lengths[start : start + AT_ONCE] = there = np.sqrt(np.square(block).sum(axis=1))
        if not np.isfinite(there).all():
            row = start + int(np.flatnonzero(~np.isfinite(there))[0])
            raise InputError(f"row {row} of {name} holds what is not a finite number: encode its text again")
        some = np.flatnonzero(there)
        yield np.rint(block[some] * (longest / there[some, None])).astype(np.float32), start + some
