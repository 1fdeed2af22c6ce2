"""Text to numbered pieces, a batch at a time: `words.split_pieces` without a Python object per occurrence.

A `PieceTable` gives every distinct piece a number, in order of first appearance. Whoever needs words, terms or counts
works out each distinct piece once and reads the rest as integers.
"""

from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Bytes, Int32s, Int64s
from lexigraft.core.compiled import compiled, for_steps, worth_loading
from lexigraft.vocab.words import SEPARATORS

Scalar = TypeVar("Scalar", bound=np.generic)

WORK_OF_A_BYTE = 20  # of text that is numbered without a kernel (see `worth_loading`)
FNV_START, FNV_FACTOR = 14695981039346656037, 1099511628211  # FNV-1a
LOWEST_64 = (1 << 64) - 1
_IS_SEPARATOR = np.isin(np.arange(256), list(SEPARATORS))


class PieceTable:
    """The distinct pieces seen so far: their bytes one after the other, and a hash table to find them by."""

    def __init__(self) -> None:
        self.count = 0
        self._bytes: Bytes = np.empty(1 << 16, np.uint8)
        self._ends: Int64s = np.zeros(1 << 12, np.int64)
        self._hashes: NDArray[np.uint64] = np.empty(1 << 12, np.uint64)
        self._slots = np.full(1 << 13, -1, np.int32)

    def number(self, text: bytes, ends: Int64s) -> tuple[Int32s, Int64s]:
        """(numbers of the pieces, new ends) of documents that lie one after the other in `text`, ending at `ends`.

        `text` is normalised UTF-8 (`words.normalised_utf8`).
        """
        array = np.frombuffer(text, np.uint8)
        most_new = len(array) // 2 + len(ends)  # two bytes a piece, with the separator, but for the last of a document
        self._make_room(most_new, len(array))
        numbers = np.empty(most_new, np.int32)
        new_ends = np.empty(len(ends), np.int64)
        number = number_pieces if worth_loading(WORK_OF_A_BYTE * len(text)) else number_by_python
        self.count = number(
            array,
            ends,
            _IS_SEPARATOR,
            self._bytes,
            self._ends,
            self._hashes,
            self._slots,
            self.count,
            numbers,
            new_ends,
        )
        return numbers[: new_ends[-1] if len(ends) else 0], new_ends

    def pieces(self, start: int) -> list[bytes]:
        """The distinct pieces from number `start` on."""
        offsets = [int(self._ends[start - 1]) if start else 0, *self._ends[start : self.count].tolist()]
        text = self._bytes[offsets[0] : offsets[-1]].tobytes()
        return [text[a - offsets[0] : b - offsets[0]] for a, b in pairwise(offsets)]

    def _make_room(self, new_pieces: int, new_bytes: int) -> None:
        used = int(self._ends[self.count - 1]) if self.count else 0
        self._bytes = _grown(self._bytes, used + new_bytes)
        self._ends = _grown(self._ends, self.count + new_pieces)
        self._hashes = _grown(self._hashes, self.count + new_pieces)
        if len(self._slots) < 2 * (self.count + new_pieces):
            self._slots = np.full(1 << (2 * (self.count + new_pieces)).bit_length(), -1, np.int32)
            for_steps(fill_slots, self.count)(self._slots, self._hashes, self.count)


def _grown(array: NDArray[Scalar], size: int) -> NDArray[Scalar]:
    if len(array) >= size:
        return array
    larger: NDArray[Scalar] = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def fill_slots(slots: Int32s, hashes: NDArray[np.uint64], count: int) -> None:
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@compiled
def number_pieces(
    text: Bytes,
    ends: Int64s,
    is_separator: NDArray[np.bool_],
    piece_bytes: Bytes,
    piece_ends: Int64s,
    hashes: NDArray[np.uint64],
    slots: Int32s,
    count: int,
    numbers: Int32s,
    new_ends: Int64s,
) -> int:
    """Write each piece's number to `numbers` and return the new count of distinct pieces; arrays are large enough."""
    mask = np.uint64(len(slots) - 1)
    n, at = 0, 0
    for document in range(len(ends)):
        end = ends[document]
        while at < end:
            if is_separator[text[at]]:
                at += 1
                continue
            start, key = at, np.uint64(FNV_START)
            while at < end and not is_separator[text[at]]:
                key = (key ^ np.uint64(text[at])) * np.uint64(FNV_FACTOR)
                at += 1
            key ^= key >> np.uint64(29)  # the table's index is the low bits, which FNV mixes least
            slot = key & mask
            while True:
                number = slots[slot]
                if number < 0:
                    used = piece_ends[count - 1] if count > 0 else 0
                    piece_bytes[used : used + at - start] = text[start:at]
                    piece_ends[count], hashes[count], slots[slot] = used + at - start, key, count
                    number = count
                    count += 1
                    break
                if hashes[number] == key and same_bytes(text, start, at, piece_bytes, piece_ends, number):
                    break
                slot = (slot + np.uint64(1)) & mask
            numbers[n] = number
            n += 1
        new_ends[document] = n
    return count


def number_by_python(
    text: Bytes,
    ends: Int64s,
    is_separator: NDArray[np.bool_],
    piece_bytes: Bytes,
    piece_ends: Int64s,
    hashes: NDArray[np.uint64],
    slots: Int32s,
    count: int,
    numbers: Int32s,
    new_ends: Int64s,
) -> int:
    """The twin of `number_pieces` for a process without kernels; it leaves the same table."""
    n, at = 0, 0
    between = text.tobytes().translate(bytes(32 if separates else byte for byte, separates in enumerate(is_separator)))
    for document, end in enumerate(ends.tolist()):
        for piece in between[at:end].split(b" "):
            if piece:
                number = _find_or_add(piece, piece_bytes, piece_ends, hashes, slots, count)
                count = max(count, number + 1)
                numbers[n] = number
                n += 1
        at, new_ends[document] = end, n
    return count


def _find_or_add(
    piece: bytes, piece_bytes: Bytes, piece_ends: Int64s, hashes: NDArray[np.uint64], slots: Int32s, count: int
) -> int:
    """The number of a piece: the next one, `count`, where it is new."""
    key = FNV_START
    for byte in piece:
        key = ((key ^ byte) * FNV_FACTOR) & LOWEST_64
    key ^= key >> 29
    slot = key & (len(slots) - 1)
    while (number := int(slots[slot])) >= 0:
        first = int(piece_ends[number - 1]) if number else 0
        if int(hashes[number]) == key and piece_bytes[first : int(piece_ends[number])].tobytes() == piece:
            return number
        slot = (slot + 1) & (len(slots) - 1)
    used = int(piece_ends[count - 1]) if count else 0
    piece_bytes[used : used + len(piece)] = np.frombuffer(piece, np.uint8)
    piece_ends[count], hashes[count], slots[slot] = used + len(piece), key, count
    return count


@compiled
def same_bytes(text: Bytes, start: int, end: int, piece_bytes: Bytes, piece_ends: Int64s, number: int) -> bool:
    first = piece_ends[number - 1] if number > 0 else 0
    if piece_ends[number] - first != end - start:
        return False
    for i in range(end - start):  # noqa: SIM110 (a generator does not compile)
        if text[start + i] != piece_bytes[first + i]:
            return False
    return True
