"""The lists of an index as one value, and the decoding of the list that a term has in a range."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import NONE, decode_list, padded


class StoredLists(NamedTuple):
    entries: NDArray[np.uint32]  # [ranges, terms]: where a list begins within its range, and its form
    stream: NDArray[np.uint16]
    range_starts: NDArray[np.int64]
    range_size: int
    n_documents: int
    bits: int  # of an impact


@compiled
def decode_stored(
    stored: StoredLists, number: int, term: int, places: NDArray[np.int32], impacts: NDArray[np.uint32]
) -> int:
    """Write the list of a term in range `number` into the first so many `places` (within the range) and `impacts`;
    returns how many."""
    entry = int(stored.entries[number, term])
    if entry & 3 == NONE:
        return 0
    n_padded = padded(min(stored.range_size, stored.n_documents - number * stored.range_size))
    at = stored.range_starts[number] + (entry >> 2)
    return decode_list(stored.stream, at, entry & 3, stored.bits, n_padded, places, impacts)
