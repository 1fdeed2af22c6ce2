"""The lists of an index decoded by numpy: the twin of `stored_lists.decode_stored` for a process that loads no kernels,
because it asks a single question."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.index.codec import DENSE, GAPS, HEADER, NONE, padded
from lexigraft.index.stored_lists import StoredLists

Postings = tuple[NDArray[np.int64], NDArray[np.uint32]]
NOTHING: Postings = np.zeros(0, np.int64), np.zeros(0, np.uint32)


def list_in_range(stored: StoredLists, number: int, term: int) -> Postings:
    """(places within range `number`, ascending, and impacts) of the postings that a term has there."""
    entry = int(stored.entries[number, term])
    form = entry & 3
    if form == NONE:
        return NOTHING
    at = int(stored.range_starts[number]) + (entry >> 2)
    count = int(stored.stream[at]) | (int(stored.stream[at + 1]) & 0xFF) << 16
    body = stored.stream[at + HEADER :]
    if form == GAPS:
        words = body[:count]
        places, impacts = np.cumsum(words & 0xFF, dtype=np.int64) - 1, words >> 8
        postings = impacts > 0  # and not fillers
        return places[postings], impacts[postings].astype(np.uint32)
    if form == DENSE:
        n_padded = padded(min(stored.range_size, stored.n_documents - number * stored.range_size))
        row = body[: n_padded // 2].view(np.uint8)
        found = np.flatnonzero(row)
        return found, row[found].astype(np.uint32)
    return body[:count].astype(np.int64), _wide_impacts(body[count:], count, stored.bits)


def _wide_impacts(words: NDArray[np.uint16], count: int, bits: int) -> NDArray[np.uint32]:
    if bits == 8:
        return words[: (count + 1) // 2].view(np.uint8)[:count].astype(np.uint32)
    if bits == 16:
        return words[:count].astype(np.uint32)
    halves = words[: 2 * count].astype(np.uint32)
    return halves[::2] | (halves[1::2] << np.uint32(16))
