"""Finds ids seen before in a stream, in 16 to 32 bytes an id: a hash table of 64-bit hashes and line numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled


class FirstLines:
    """The line on which each id first came."""

    def __init__(self) -> None:
        self.count = 0  # distinct ids
        self._hashes, self._lines = np.zeros(1024, np.uint64), np.zeros(1024, np.int64)

    def first_lines(self, identifiers: Sequence[str], lines: Sequence[int]) -> list[int]:
        """For each id in turn, its line if it is new, the earlier line if it was seen before."""
        while 2 * (self.count + len(lines)) >= len(self._hashes):
            hashes, old = self._hashes, self._lines
            self._hashes, self._lines = np.zeros(2 * len(hashes), np.uint64), np.zeros(2 * len(hashes), np.int64)
            reinsert(hashes, old, self._hashes, self._lines)
        keys = np.array([hash(identifier) for identifier in identifiers], np.int64).view(np.uint64)
        found = insert_all(self._hashes, self._lines, keys, np.array(lines, np.int64))
        first: list[int] = found.tolist()
        self.count += sum(map(int.__eq__, first, lines))
        return first

    def has(self, identifier: str) -> bool:
        """Whether it came; it is not written down."""
        key = np.int64(hash(identifier)).view(np.uint64)
        return bool(self._lines[find(self._hashes, self._lines, key)] != 0)


@compiled
def insert_all(
    hashes: NDArray[np.uint64], lines: NDArray[np.int64], keys: NDArray[np.uint64], new_lines: NDArray[np.int64]
) -> NDArray[np.int64]:
    found = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        found[i] = insert(hashes, lines, keys[i], new_lines[i])
    return found


@compiled
def insert(hashes: NDArray[np.uint64], lines: NDArray[np.int64], key: np.uint64, line: int) -> int | np.int64:
    """The line of the key, which is `line` where the key is new."""
    slot = find(hashes, lines, key)
    if lines[slot] != 0:
        found: np.int64 = lines[slot]
        return found
    hashes[slot], lines[slot] = key, line
    return line


@compiled
def find(hashes: NDArray[np.uint64], lines: NDArray[np.int64], key: np.uint64) -> np.uint64:
    """The slot of the key, or the free one it would take: by linear probing; a slot is free while its line is 0 (lines
    count from 1)."""
    mask = np.uint64(len(hashes) - 1)
    slot = key & mask
    while lines[slot] != 0 and hashes[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def reinsert(
    hashes: NDArray[np.uint64], lines: NDArray[np.int64], new_hashes: NDArray[np.uint64], new_lines: NDArray[np.int64]
) -> None:
    for slot in range(len(hashes)):
        if lines[slot] != 0:
            insert(new_hashes, new_lines, hashes[slot], lines[slot])
