"""Finds ids seen before in a stream, in 16 to 32 bytes an id: a hash table of 64-bit hashes and line numbers."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled


class FirstLines:
    """The line on which each id first came."""

    def __init__(self) -> None:
        self._hashes, self._lines, self._count = np.zeros(1024, np.uint64), np.zeros(1024, np.int64), 0

    def first_line(self, identifier: str, line: int) -> int:
        """`line` for a new id, the earlier line for one seen before."""
        if 2 * self._count >= len(self._hashes):
            hashes, lines = self._hashes, self._lines
            self._hashes, self._lines = np.zeros(2 * len(hashes), np.uint64), np.zeros(2 * len(hashes), np.int64)
            reinsert(hashes, lines, self._hashes, self._lines)
        found = int(insert(self._hashes, self._lines, np.uint64(hash(identifier) & 0xFFFFFFFFFFFFFFFF), line))
        self._count += found == line
        return found


@compiled
def insert(hashes: NDArray[np.uint64], lines: NDArray[np.int64], key: np.uint64, line: int) -> int | np.int64:
    """Linear probing; a slot is free while its line is 0 (lines count from 1)."""
    mask = np.uint64(len(hashes) - 1)
    slot = key & mask
    while lines[slot] != 0:
        if hashes[slot] == key:
            found: np.int64 = lines[slot]
            return found
        slot = (slot + np.uint64(1)) & mask
    hashes[slot], lines[slot] = key, line
    return line


@compiled
def reinsert(
    hashes: NDArray[np.uint64], lines: NDArray[np.int64], new_hashes: NDArray[np.uint64], new_lines: NDArray[np.int64]
) -> None:
    for slot in range(len(hashes)):
        if lines[slot] != 0:
            insert(new_hashes, new_lines, hashes[slot], lines[slot])
