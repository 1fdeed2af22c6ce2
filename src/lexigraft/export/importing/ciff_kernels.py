"""Reads messages of CIFF out of a mapped file: lists, whose postings are looked through and spread over rows, and
records of documents. Nothing is read outside of a message, whatever its bytes say."""

from typing import Any

from numpy.typing import NDArray

from lexigraft.core.array_types import Bytes, Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled

BROKEN, BACKWARDS, UNKNOWN_DOCUMENT, NOT_POSITIVE = 1, 2, 3, 4  # what may be wrong with a posting
TERM_START, TERM_END, DF, CF, N_POSTINGS, TF_SUM, TF_MOST, WRONG, VALUE = range(9)  # places in the facts of a list
N_FACTS = 9
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # kinds of values


@compiled
def read_varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """(value, the place behind it); the place is -1 where it does not end before `end`, or within ten bytes."""
    value, shift = 0, 0
    while at < end and shift < 70:
        byte = int(data[at])
        at += 1
        if shift < 63:
            value |= (byte & 127) << shift
        elif byte & 1:
            value |= -(1 << 62) * 2  # the sign
        if byte < 128:
            return value, at
        shift += 7
    return 0, -1


@compiled
def read_field(data: Bytes, at: int, end: int) -> tuple[int, int, int, int]:
    """(tag, value or place of the first byte, place of the last byte, place behind the field) of a field; the last is
    -1 where it is no field that ends before `end`."""
    tag, at = read_varint(data, at, end)
    if at < 0:
        return 0, 0, 0, -1
    kind = tag & 7
    if kind == _VARINT:
        value, behind = read_varint(data, at, end)
        return tag, value, at, behind
    n_bytes = 8 if kind == _EIGHT else 4 if kind == _FOUR else -1
    if kind == _BYTES:
        n_bytes, at = read_varint(data, at, end)
    if at < 0 or n_bytes < 0 or n_bytes > end - at:
        return 0, 0, 0, -1
    return tag, at, at + n_bytes, at + n_bytes


@compiled
def read_posting(data: Bytes, at: int, end: int) -> tuple[int, int, bool]:
    """(gap, tf, whether the message is whole) of the posting whose message is there."""
    gap, tf = 0, 0
    while at < end:
        tag, value, _, at = read_field(data, at, end)
        if at < 0:
            return 0, 0, False
        if tag == 8:
            gap = value
        elif tag == 16:
            tf = value
    return gap, tf, True


@compiled
def scan_list(data: Bytes, at: int, end: int, counts: Int64s, facts: Int64s) -> None:
    """Look through the list whose message is there: fill `facts`, and count its postings for their documents in
    `counts`, one for each document of the file. Stops at what is wrong with a posting."""
    facts[:] = 0
    document = -1
    while at < end:
        tag, value, stop, behind = read_field(data, at, end)
        if behind < 0:
            facts[WRONG] = BROKEN
            return
        if tag == 10:
            facts[TERM_START], facts[TERM_END] = value, stop
        elif tag == 16:
            facts[DF] = value
        elif tag == 24:
            facts[CF] = value
        elif tag == 34:
            gap, tf, whole = read_posting(data, value, stop)
            wrong, found = 0, 0
            if not whole:
                wrong = BROKEN
            elif gap < 0 or (gap == 0 and document >= 0):
                wrong, found = BACKWARDS, gap
            elif gap >= len(counts) - max(document, 0):
                wrong, found = UNKNOWN_DOCUMENT, gap
            elif not 0 < tf <= 2147483647:
                wrong, found = NOT_POSITIVE, tf
            if wrong:
                facts[WRONG], facts[VALUE] = wrong, found
                return
            document = max(document, 0) + gap
            counts[document] += 1
            facts[N_POSTINGS] += 1
            facts[TF_SUM] += tf
            facts[TF_MOST] = max(facts[TF_MOST], tf)
        at = behind


@compiled
def spread_lists(
    data: Bytes,
    cursors: Int64s,
    ends: Int64s,
    documents: Int64s,
    order: Int64s,
    term_ids_of: Int32s,
    first: int,
    last: int,
    places: Int64s,
    term_ids: Int32s,
    weights: Float32s,
) -> None:
    """Go on in every list, in the given order, as far as documents before `last`, and write each posting to the place
    of its row; rows begin with document `first`. `documents` is the last one read of each list, -1 at the beginning."""
    for list_number in order:
        at, end, document = cursors[list_number], ends[list_number], documents[list_number]
        while at < end:
            tag, value, stop, behind = read_field(data, at, end)
            if tag == 34:
                gap, tf, _ = read_posting(data, value, stop)
                following = max(document, 0) + gap
                if following >= last:
                    break
                document = following
                place = places[document - first]
                term_ids[place], weights[place] = term_ids_of[list_number], tf
                places[document - first] = place + 1
            at = behind
        cursors[list_number], documents[list_number] = at, document


@compiled
def scan_records(data: Bytes, at: int, first: int, n: int, names: NDArray[Any]) -> tuple[int, int]:
    """(place behind, number read) of up to `n` records from `at` on, of documents from `first`, whose ids lie between
    `names[i, 0]` and `names[i, 1]`. Stops before one that is broken, or has another number than its place."""
    for i in range(n):
        size, start = read_varint(data, at, len(data))
        if start < 0 or size < 0 or size > len(data) - start:
            return at, i
        end, number, inside = start + size, 0, start
        names[i, 0], names[i, 1] = 0, 0
        while inside < end:
            tag, value, stop, inside = read_field(data, inside, end)
            if inside < 0:
                return at, i
            if tag == 8:
                number = value
            elif tag == 18:
                names[i, 0], names[i, 1] = value, stop
        if number != first + i:
            return at, i
        at = end
    return at, n
