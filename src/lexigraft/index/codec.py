"""Postings of a range of documents as one stream of 16-bit words, made to be added up rather than to be decoded.

Documents are cut into ranges of 65,536, so that a place within a range is 16 bits. Each term's list in a range has one
of three forms, whichever is smallest, or dense where that is worth it:

wide    places (one word each), then impacts: few postings, far apart
gaps    of each posting the distance to the one before, and its impact. A distance over 255 is bridged by fillers of
        impact 0, which add nothing to whatever document they fall on, so that a loop needs no branch
dense   an impact for every document of the range, 0 where it has none: added up many documents at a time

Impacts of 8 bits lie two to a word, and in lists of gaps above the distance; those of 16 have a word each, and in lists
of gaps follow the distances, which lie two to a word. Impacts of 24 bits, two words each, have wide lists alone.

A list begins with two words: its count (wide and dense: postings; gaps: postings and fillers) and above that, of 8
bits, the largest impact. Its entry, one 32-bit number a term and range, is where it begins and in the lowest two bits
its form; 0 is no list.
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
DENSE_SHARE, FINE_DENSE_SHARE = 0.18, 0.3  # from here on a row of all documents takes no longer than its postings
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


@inlined
def impact_words(n: int, bits: int) -> int:
    """How many words so many impacts take beside each other."""
    return (n + 1) // 2 if bits == 8 else n * (bits // 8 - 1)


@inlined
def body_words(form: int, count: int, n_padded: int, bits: int) -> int:
    """How many words follow the header of a list."""
    if form == DENSE:
        return impact_words(n_padded, bits)
    if form == WIDE:
        return count + impact_words(count, bits)
    return count if bits == 8 else (count + 1) // 2 + count


@compiled
def encoded_size(places: Uint16s, n_padded: int, bits: int) -> tuple[int, int]:
    """(form, words with the header) of a list."""
    n = len(places)
    if n == 0:
        return NONE, 0
    wide = body_words(WIDE, n, n_padded, bits)
    if bits == 24:
        return WIDE, HEADER + wide
    count, last = n, -1
    for i in range(n):
        count += (int(places[i]) - last - 1) // 255
        last = int(places[i])
    gaps, dense = body_words(GAPS, count, n_padded, bits), body_words(DENSE, n, n_padded, bits)
    if n >= (DENSE_SHARE if bits == 8 else FINE_DENSE_SHARE) * n_padded or dense <= min(gaps, wide):
        return DENSE, HEADER + dense
    if gaps <= wide:
        return GAPS, HEADER + gaps
    return WIDE, HEADER + wide


@compiled
def encode_list(places: Uint16s, impacts: NDArray[Any], form: int, bits: int, words: Uint16s) -> None:
    """Write a list of `form` into `words`, which are 0 and as many as `encoded_size` said."""
    n, largest = len(places), 0
    for i in range(n):
        largest = max(largest, int(impacts[i]))
    count = n if form != GAPS else len(words) - HEADER if bits == 8 else (len(words) - HEADER) * 2 // 3
    words[0] = np.uint16(count & 0xFFFF)
    words[1] = np.uint16((count >> 16) | (largest << 8 if bits == 8 else 0))
    body = words[HEADER:]
    if form == GAPS:
        last, at = -1, 0
        for i in range(n):
            gap = int(places[i]) - last
            while gap > 255:
                put_gap(body, count, at, 255, 0, bits)
                at, gap = at + 1, gap - 255
            put_gap(body, count, at, gap, int(impacts[i]), bits)
            last, at = int(places[i]), at + 1
    elif form == DENSE:
        for i in range(n):
            put_impact(body, int(places[i]), int(impacts[i]), bits)
    else:
        for i in range(n):
            body[i] = places[i]
            put_impact(body[n:], i, int(impacts[i]), bits)


@compiled
def put_gap(body: Uint16s, count: int, at: int, gap: int, impact: int, bits: int) -> None:
    if bits == 8:
        body[at] = np.uint16(gap | (impact << 8))
    else:
        body[at >> 1] |= np.uint16(gap << (8 * (at & 1)))
        body[(count + 1) // 2 + at] = np.uint16(impact)


@compiled
def put_impact(body: Uint16s, at: int, impact: int, bits: int) -> None:
    if bits == 8:
        body[at >> 1] |= np.uint16(impact << (8 * (at & 1)))
    elif bits == 16:
        body[at] = np.uint16(impact)
    else:
        body[2 * at] = np.uint16(impact & 0xFFFF)
        body[2 * at + 1] = np.uint16(impact >> 16)


@compiled
def gap_at(body: Uint16s, at: int, bits: int) -> int:
    """The distance of the posting or filler `at` of a list of gaps."""
    return int(body[at]) & 0xFF if bits == 8 else (int(body[at >> 1]) >> (8 * (at & 1))) & 0xFF


@compiled
def gap_impact(body: Uint16s, count: int, at: int, bits: int) -> int:
    """Its impact."""
    return int(body[at]) >> 8 if bits == 8 else int(body[(count + 1) // 2 + at])


@compiled
def impact_at(body: Uint16s, at: int, bits: int) -> int:
    """The impact `at` of those that lie beside each other from the beginning of `body` on."""
    if bits == 8:
        return (int(body[at >> 1]) >> (8 * (at & 1))) & 0xFF
    return int(body[at]) if bits == 16 else int(body[2 * at]) | int(body[2 * at + 1]) << 16


@compiled
def list_count(stream: Uint16s, at: int) -> int:
    """The count in the header of the list at word `at`."""
    return int(stream[at]) | (int(stream[at + 1]) & 0xFF) << 16


@compiled
def list_postings(stream: Uint16s, at: int, form: int, bits: int) -> int:
    """How many postings a list has: one of gaps may have fillers, too."""
    count = list_count(stream, at)
    if form != GAPS:
        return count
    body, n = stream[at + HEADER :], 0
    for i in range(count):
        n += int(gap_impact(body, count, i, bits) > 0)
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
            place += gap_at(body, i, bits)
            impact = gap_impact(body, count, i, bits)
            if impact > 0:
                places[n], impacts[n] = place, impact
                n += 1
    elif form == DENSE:
        for place in range(n_padded):
            impact = impact_at(body, place, bits)
            if impact > 0:
                places[n], impacts[n] = place, impact
                n += 1
    elif form == WIDE:
        for i in range(count):
            places[i], impacts[i] = body[i], impact_at(body[count:], i, bits)
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
