"""The lists of an index decoded by numpy: the twin of `stored_lists.decode_stored` for a process that loads no kernels,
because it asks a single question."""

from typing import Any

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
        gaps, impacts = gaps_of(body, count, stored.bits)
        postings = impacts > 0  # and not fillers
        return (np.cumsum(gaps, dtype=np.int64) - 1)[postings], impacts[postings].astype(np.uint32)
    if form == DENSE:
        n_padded = padded(min(stored.range_size, stored.n_documents - number * stored.range_size))
        row = _impacts(body, n_padded, stored.bits)
        found = np.flatnonzero(row)
        return found, row[found]
    return body[:count].astype(np.int64), _impacts(body[count:], count, stored.bits)


def gaps_of(
    body: NDArray[np.uint16], count: int, bits: int
) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
    """(distances, impacts) of the postings and fillers of a list of gaps."""
    if bits == 8:
        return body[:count] & 0xFF, body[:count] >> 8
    n_words = (count + 1) // 2
    return body[:n_words].view(np.uint8)[:count], body[n_words : n_words + count]


def _impacts(words: NDArray[np.uint16], count: int, bits: int) -> NDArray[np.uint32]:
    if bits == 8:
        return words[: (count + 1) // 2].view(np.uint8)[:count].astype(np.uint32)
    if bits == 16:
        return words[:count].astype(np.uint32)
    halves = words[: 2 * count].astype(np.uint32)
    return halves[::2] | (halves[1::2] << np.uint32(16))
