"""Whether the lists of an index are ones that kernels may believe: one pass over all words of the stream.

Searches add at places that the file says, without a look, because a look costs as much as the addition. So everything
is looked at once, before the first search of an index that was made elsewhere: each list begins where the one before it
ended, has a form that its impacts allow, ascends, and ends within its range. Since lists follow each other without a
gap, no file can make this pass longer than itself.
"""

import numpy as np

from lexigraft.core.array_types import Int64s, Uint32s
from lexigraft.core.compiled import compiled, worth_loading
from lexigraft.index.codec import (
    DENSE,
    GAPS,
    HEADER,
    NONE,
    WIDE,
    body_words,
    gap_at,
    gap_impact,
    impact_at,
    list_count,
    padded,
)
from lexigraft.index.lists_by_numpy import gaps_of, list_in_range
from lexigraft.index.stored_lists import StoredLists

FINE, PLACE, FORM, COUNT, ORDER, OUTSIDE, IMPACT, LARGEST, REST = range(9)
SAYS = {
    PLACE: "does not begin where the list before it ends",
    FORM: "has a form that these impacts cannot have",
    COUNT: "has another number of postings than it says",
    ORDER: "has documents that do not ascend",
    OUTSIDE: "names documents that its range does not have",
    IMPACT: "has impacts of 0, or larger ones than their bits can say",
    LARGEST: "has another largest impact than it says",
    REST: "is followed by words that are of no list",
}
WORK_OF_A_LIST = 2000  # of the twin, beside its words (see `worth_loading`)


def look_through(stored: StoredLists, lengths: Int64s, largest: Uint32s) -> tuple[int, int, int]:
    """(what is wrong, range, term) of the first wrong list, what is `FINE` where there is none. Adds to `lengths` the
    postings of each term, and raises `largest` to its largest impact. Entries and range_starts fit the stream
    (index/structure.py)."""
    work = WORK_OF_A_LIST * int(np.count_nonzero(stored.entries)) + len(stored.stream)
    pass_over = look_through_lists if worth_loading(work) else look_through_by_numpy
    return pass_over(stored, lengths, largest)


@compiled
def look_through_lists(stored: StoredLists, lengths: Int64s, largest: Uint32s) -> tuple[int, int, int]:
    """The kernel of `look_through`."""
    for number in range(len(stored.entries)):
        start, end = stored.range_starts[number], stored.range_starts[number + 1]
        n_here = min(stored.range_size, stored.n_documents - number * stored.range_size)
        at = start
        for term in range(stored.entries.shape[1]):
            entry = int(stored.entries[number, term])
            form = entry & 3
            if form == NONE:
                if entry != 0:
                    return PLACE, number, term
                continue
            if start + (entry >> 2) != at or at + HEADER > end:
                return PLACE, number, term
            what, words, n, most = look_at_list(stored, at, end, form, n_here)
            if what != FINE:
                return what, number, term
            at += words
            lengths[term] += n
            largest[term] = max(largest[term], np.uint32(most))
        if at != end:
            return REST, number, 0
    return FINE, 0, 0


@compiled
def look_at_list(stored: StoredLists, at: int, end: int, form: int, n_here: int) -> tuple[int, int, int, int]:
    """(what is wrong, words, postings, largest impact) of the list at word `at`; nothing from word `end` on is read."""
    stream, bits = stored.stream, stored.bits
    count, stated, n_padded = list_count(stream, at), int(stream[at + 1]) >> 8, padded(n_here)
    if (bits == 24 and form != WIDE) or (bits != 8 and stated != 0):
        return FORM, 0, 0, 0
    words = body_words(form, count, n_padded, bits)
    if count == 0 or at + HEADER + words > end:
        return COUNT, 0, 0, 0
    body = stream[at + HEADER : at + HEADER + words]
    n, most, wrong_order, wrong_impact, last = 0, 0, 0, 0, -1
    if form == GAPS:
        for i in range(count):
            gap, impact = gap_at(body, i, bits), gap_impact(body, count, i, bits)
            last += gap
            n += int(impact > 0)
            most = max(most, impact)
            wrong_order |= int((gap == 0) | ((impact == 0) & (gap != 255)))
        wrong_impact = int(gap_impact(body, count, count - 1, bits) == 0)  # fillers lead to a posting
    elif form == DENSE:
        for place in range(n_padded):
            impact = impact_at(body, place, bits)
            n += int(impact > 0)
            most = max(most, impact)
            if impact > 0:
                last = place
        if n != count:
            return COUNT, 0, 0, 0
    else:
        for i in range(count):
            place = int(body[i])
            wrong_order |= int(place <= last)
            last = place
            impact = impact_at(body[count:], i, bits)
            wrong_impact |= int((impact == 0) | (impact >= 1 << bits))
            most = max(most, impact)
        n = count
    if wrong_order:
        return ORDER, 0, 0, 0
    if last >= n_here:
        return OUTSIDE, 0, 0, 0
    if wrong_impact:
        return IMPACT, 0, 0, 0
    if bits == 8 and most != stated:
        return LARGEST, 0, 0, 0
    return FINE, HEADER + words, n, most


def look_through_by_numpy(stored: StoredLists, lengths: Int64s, largest: Uint32s) -> tuple[int, int, int]:
    """The slow and obvious twin: every list is decoded as a search without kernels decodes it."""
    for number in range(len(stored.entries)):
        start, end = (int(place) for place in stored.range_starts[number : number + 2])
        n_here = min(stored.range_size, stored.n_documents - number * stored.range_size)
        at = start
        for term in np.flatnonzero(stored.entries[number]).tolist():
            entry = int(stored.entries[number, term])
            form = entry & 3
            if form == NONE or start + (entry >> 2) != at or at + HEADER > end:
                return PLACE, number, term
            what, words = _size(stored, at, end, form, padded(n_here))
            if what == FINE:
                what = _first_wrong(stored, number, term, at, words, n_here)
            if what != FINE:
                return what, number, term
            _, impacts = list_in_range(stored, number, term)
            at += HEADER + words
            lengths[term] += len(impacts)
            largest[term] = max(largest[term], impacts.max())
        if at != end:
            return REST, number, 0
    return FINE, 0, 0


def _size(stored: StoredLists, at: int, end: int, form: int, n_padded: int) -> tuple[int, int]:
    """(what is wrong, words after the header) of a list."""
    header = stored.stream[at : at + HEADER].tolist()
    count, bits = header[0] | (header[1] & 0xFF) << 16, stored.bits
    if (bits == 24 and form != WIDE) or (bits != 8 and header[1] >> 8):
        return FORM, 0
    words = body_words(form, count, n_padded, bits)
    return (COUNT if count == 0 or at + HEADER + words > end else FINE), words


def _first_wrong(stored: StoredLists, number: int, term: int, at: int, words: int, n_here: int) -> int:
    form, header = int(stored.entries[number, term]) & 3, stored.stream[at : at + HEADER].tolist()
    body = stored.stream[at + HEADER : at + HEADER + words]
    places, impacts = list_in_range(stored, number, term)
    count = header[0] | (header[1] & 0xFF) << 16
    if form == DENSE and len(places) != count:
        return COUNT
    last = int(places[-1]) if len(places) else -1
    if form == GAPS:
        gaps, of_gaps = gaps_of(body, count, stored.bits)
        if (gaps == 0).any() or ((of_gaps == 0) & (gaps != 255)).any():
            return ORDER
        last = int(gaps.sum()) - 1
    elif (np.diff(places) <= 0).any():
        return ORDER
    if last >= n_here:
        return OUTSIDE
    if (impacts == 0).any() or (impacts >= 1 << stored.bits).any() or (form == GAPS and of_gaps[-1] == 0):
        return IMPACT
    return LARGEST if stored.bits == 8 and impacts.max() != header[1] >> 8 else FINE
