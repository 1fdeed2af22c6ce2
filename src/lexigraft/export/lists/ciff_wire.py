"""The messages of a CIFF file as bytes: Protocol Buffers, each message behind its length.

    Header       1 version, 2 lists here, 3 documents here, 4 lists in all, 5 documents in all, 6 sum of all tf,
                 7 average document length (double), 8 description
    PostingsList 1 term, 2 df, 3 cf, 4 postings (messages of 1 gap to the document before, 2 tf)
    DocRecord    1 number of the document, 2 its id, 3 its length

https://github.com/osirrc/ciff has the schema. As every writer of proto3 does, a number that is 0 and a text that is
empty are left out, and fields stand in the order of their numbers; so the same index gives the same bytes.
"""

import struct

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.compiled import compiled

VERSION = 1
# A tag is a field's number times 8 plus the kind of its value: 0 a varint, 1 eight bytes, 2 bytes behind their length.
LONGEST_MESSAGE = 2**31 - 1  # bytes: what every reader of Protocol Buffers takes
_POSTING, _GAP, _TF = 0x22, 0x08, 0x10
_DOCUMENT, _NAME, _LENGTH = 0x08, 0x12, 0x18
_POSTING_ROOM, _RECORD_ROOM = 14, 26  # bytes at most, of a record without its name


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def delimited(message: bytes) -> bytes:
    return varint(len(message)) + message


def header(n_lists: int, n_documents: int, total: int, description: str) -> bytes:
    """The message that a file begins with; `total` is the sum of the lengths of all documents."""
    average = total / n_documents if n_documents else 0.0
    message = b"\x08" + varint(VERSION)
    for tag, value in zip(b"\x10\x18\x20\x28\x30", (n_lists, n_documents, n_lists, n_documents, total), strict=True):
        message += bytes([tag]) + varint(value) if value else b""
    message += b"\x39" + struct.pack("<d", average) if average else b""
    return delimited(message + b"\x42" + delimited(description.encode()))


def list_head(term: bytes, impacts: NDArray[np.uint32], n_bytes: int) -> bytes:
    """What stands before the postings of a list: its length, given that they take `n_bytes`, its term, df and cf."""
    fields = b"\x0a" + delimited(term) if term else b""
    fields += b"\x10" + varint(len(impacts)) + b"\x18" + varint(int(impacts.sum(dtype=np.int64)))
    return varint(len(fields) + n_bytes) + fields


def write_postings(ordinals: NDArray[np.int32], impacts: NDArray[np.uint32], before: int) -> NDArray[np.uint8]:
    """Postings of a list as they stand in its message; the document before the first of them is `before`, or 0."""
    out = np.empty(_POSTING_ROOM * len(ordinals), np.uint8)
    return out[: fill_postings(ordinals, impacts, before, out)]


def write_records(first: int, names: list[bytes], lengths: Int64s) -> NDArray[np.uint8]:
    """The records of documents from number `first` on."""
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    blob = np.frombuffer(b"".join(names), np.uint8)
    out = np.empty(len(blob) + _RECORD_ROOM * len(names), np.uint8)
    return out[: fill_records(first, blob, ends, lengths, out)]


@compiled
def postings_size(ordinals: NDArray[np.int32], impacts: NDArray[np.uint32]) -> int:
    """How many bytes the postings of a whole list take in its message."""
    size, previous = 0, 0
    for i in range(len(ordinals)):
        gap = int(ordinals[i]) - previous
        previous += gap
        size += 3 + varint_size(int(impacts[i])) + (1 + varint_size(gap) if gap else 0)
    return size


@compiled
def fill_postings(ordinals: NDArray[np.int32], impacts: NDArray[np.uint32], before: int, out: NDArray[np.uint8]) -> int:
    """Write postings to the beginning of `out`; returns how many bytes."""
    at, previous = 0, before
    for i in range(len(ordinals)):
        gap = int(ordinals[i]) - previous
        previous += gap
        out[at] = _POSTING
        start = at + 2  # at most 12 bytes follow, whose number takes one
        at = start
        if gap:
            out[at] = _GAP
            at = fill_varint(gap, at + 1, out)
        out[at] = _TF
        at = fill_varint(int(impacts[i]), at + 1, out)
        out[start - 1] = at - start
    return at


@compiled
def fill_records(first: int, names: NDArray[np.uint8], ends: Int64s, lengths: Int64s, out: NDArray[np.uint8]) -> int:
    """Write records to the beginning of `out`; returns how many bytes. Names lie one after the other."""
    at, start = 0, 0
    for i in range(len(ends)):
        number, n_name, length = first + i, ends[i] - start, lengths[i]
        size = (1 + varint_size(number) if number else 0) + (1 + varint_size(length) if length else 0)
        size += 1 + varint_size(n_name) + n_name if n_name else 0
        at = fill_varint(size, at, out)
        if number:
            out[at] = _DOCUMENT
            at = fill_varint(number, at + 1, out)
        if n_name:
            out[at] = _NAME
            at = fill_varint(n_name, at + 1, out)
            out[at : at + n_name] = names[start : ends[i]]
            at += n_name
        if length:
            out[at] = _LENGTH
            at = fill_varint(length, at + 1, out)
        start = ends[i]
    return at


@compiled
def varint_size(value: int) -> int:
    size = 1
    while value > 127:
        value >>= 7
        size += 1
    return size


@compiled
def fill_varint(value: int, at: int, out: NDArray[np.uint8]) -> int:
    """Write `value` at `at`; returns the place behind it."""
    while value > 127:
        out[at] = value & 127 | 128
        value >>= 7
        at += 1
    out[at] = value
    return at + 1
