"""Postings of a range of documents as one stream of 16-bit words, made to be added up rather than to be decoded.

Documents are cut into ranges of 65,536, so that a place within a range is 16 bits. Each term's list in a range has one
of three forms, whichever is smallest, or dense where that is worth it:

wide    places (one word each), then impacts (two to a word): few postings, far apart
gaps    one word a posting: the distance to the one before below, the impact above. A distance over 255 is bridged by
        fillers of impact 0, which add nothing to whatever document they fall on, so that a loop needs no branch
dense   an impact for every document of the range, 0 where it has none: added up many documents at a time

A list begins with two words: the count of its words (wide: postings; dense: postings) and above its upper bits the
largest impact. Its entry, one 32-bit number a term and range, is where it begins and in the lowest two bits its form; 0
is no list. Impacts of 16 or 24 bits have wide lists alone, with one or two words an impact.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int32s, Int64s, Uint16s, Uint32s
from lexigraft.core.compiled import compiled, inlined
from lexigraft.core.errors import InputError

RANGE = 1 << 16
NONE, WIDE, GAPS, DENSE = 0, 1, 2, 3
HEADER = 2  # words
PAD = 64  # the documents of a range are rounded up to this many, so that loops over blocks have no ends to mind
DENSE_SHARE = 0.18  # from here on a row of all documents takes no longer than its postings (bench/list_forms.py)
MAX_WORDS = 1 << 30  # an entry has 30 bits for a place


@inlined
def padded(n_documents: int) -> int:
    """The length of a dense row in a range of so many documents."""
    return (n_documents + PAD - 1) // PAD * PAD


def require_addressable(n_words: int, n_documents: int) -> None:
    """Raise `InputError` where the lists of a range are longer than entries can say; `encode_range` wrote none then."""
    if n_words >= MAX_WORDS:
        raise InputError(
            f"{n_documents} documents have {n_words:,} words of postings, {MAX_WORDS - 1:,} are allowed; keep fewer "
            "terms each (dk)"
        )


@compiled
def encoded_size(places: Uint16s, n_padded: int, bits: int) -> tuple[int, int]:
    """(form, words with the header) of a list."""
    n = len(places)
    if n == 0:
        return NONE, 0
    if bits > 8:
        return WIDE, HEADER + n * (2 if bits == 16 else 3)
    words, last = n, -1
    for i in range(n):
        words += (int(places[i]) - last - 1) // 255
        last = int(places[i])
    dense_words = n_padded // 2
    if n >= DENSE_SHARE * n_padded or dense_words <= min(words, n + (n + 1) // 2):
        return DENSE, HEADER + dense_words
    if words <= n + (n + 1) // 2:
        return GAPS, HEADER + words
    return WIDE, HEADER + n + (n + 1) // 2


@compiled
def encode_list(places: Uint16s, impacts: NDArray[Any], form: int, bits: int, words: Uint16s) -> None:
    """Write a list of `form` into `words`, which are 0 and as many as `encoded_size` said."""
    n, largest = len(places), 0
    for i in range(n):
        largest = max(largest, int(impacts[i]))
    count = len(words) - HEADER if form == GAPS else n
    words[0] = np.uint16(count & 0xFFFF)
    words[1] = np.uint16((count >> 16) | (largest << 8 if bits == 8 else 0))
    body = words[HEADER:]
    if form == GAPS:
        last, at = -1, 0
        for i in range(n):
            gap = int(places[i]) - last
            while gap > 255:
                body[at] = np.uint16(255)
                at, gap = at + 1, gap - 255
            body[at] = np.uint16(gap | (int(impacts[i]) << 8))
            last, at = int(places[i]), at + 1
    elif form == DENSE:
        for i in range(n):
            place = int(places[i])
            body[place >> 1] |= np.uint16(int(impacts[i]) << (8 * (place & 1)))
    else:
        for i in range(n):
            body[i] = places[i]
            if bits == 8:
                body[n + (i >> 1)] |= np.uint16(int(impacts[i]) << (8 * (i & 1)))
            elif bits == 16:
                body[n + i] = np.uint16(impacts[i])
            else:
                body[n + 2 * i] = np.uint16(int(impacts[i]) & 0xFFFF)
                body[n + 2 * i + 1] = np.uint16(int(impacts[i]) >> 16)


@compiled
def list_count(stream: Uint16s, at: int) -> int:
    """The count in the header of the list at word `at`."""
    return int(stream[at]) | (int(stream[at + 1]) & 0xFF) << 16


@compiled
def list_postings(stream: Uint16s, at: int, form: int) -> int:
    """How many postings a list (of 8 bits) has: of one of gaps, its words that are no fillers."""
    count = list_count(stream, at)
    if form != GAPS:
        return count
    n = 0
    for i in range(at + HEADER, at + HEADER + count):
        n += int(stream[i] > 255)
    return n


@compiled
def list_max(stream: Uint16s, at: int) -> int:
    """The largest impact of a list (of 8 bits)."""
    return int(stream[at + 1]) >> 8


@compiled
def decode_list(stream: Uint16s, at: int, form: int, bits: int, n_padded: int, places: Int32s, impacts: Uint32s) -> int:
    """Write the list at word `at` into `places` and `impacts`; return how many postings. The obvious twin of what
    searches do with a list, and what everything but a search uses."""
    count, body, n = list_count(stream, at), stream[at + HEADER :], 0
    if form == GAPS:
        place = -1
        for i in range(count):
            place += int(body[i]) & 0xFF
            impact = np.uint32(body[i]) >> np.uint32(8)
            if impact > 0:
                places[n], impacts[n] = place, impact
                n += 1
    elif form == DENSE:
        for place in range(n_padded):
            impact = (np.uint32(body[place >> 1]) >> np.uint32(8 * (place & 1))) & np.uint32(0xFF)
            if impact > 0:
                places[n], impacts[n] = place, impact
                n += 1
    elif form == WIDE:
        for i in range(count):
            places[i] = body[i]
            if bits == 8:
                impacts[i] = (np.uint32(body[count + (i >> 1)]) >> np.uint32(8 * (i & 1))) & np.uint32(0xFF)
            elif bits == 16:
                impacts[i] = body[count + i]
            else:
                impacts[i] = np.uint32(body[count + 2 * i]) | (np.uint32(body[count + 2 * i + 1]) << np.uint32(16))
        n = count
    return n


@compiled
def encode_range(
    starts: Int64s, places: Uint16s, impacts: NDArray[Any], n_padded: int, bits: int
) -> tuple[Uint32s, Uint16s]:
    """(entries, words) of a range whose postings of term t lie at starts[t]..starts[t + 1], by ascending place."""
    n_terms = len(starts) - 1
    forms, ends = np.zeros(n_terms, np.uint8), np.zeros(n_terms + 1, np.int64)
    for term in range(n_terms):
        form, size = encoded_size(places[starts[term] : starts[term + 1]], n_padded, bits)
        forms[term], ends[term + 1] = form, ends[term] + size
    entries, words = np.zeros(n_terms, np.uint32), np.zeros(ends[n_terms], np.uint16)
    if ends[n_terms] < MAX_WORDS:
        for term in range(n_terms):
            if forms[term] != NONE:
                span = slice(starts[term], starts[term + 1])
                encode_list(places[span], impacts[span], forms[term], bits, words[ends[term] : ends[term + 1]])
                entries[term] = np.uint32(ends[term] << 2 | int(forms[term]))
    return entries, words
