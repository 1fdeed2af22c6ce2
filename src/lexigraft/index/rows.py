"""An index read the other way: the terms of a range of documents, out of the lists of the terms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import PAD
from lexigraft.index.inverted import Index
from lexigraft.index.stored_lists import StoredLists, decode_stored


class Rows(NamedTuple):
    """CSR of a range of documents, term ids ascending within a row."""

    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    impacts: NDArray[np.uint32]


def iterate_rows(index: Index, start: int, end: int) -> Rows:
    """The terms and impacts of documents start..end-1. All lists of the ranges they lie in are read twice, so ask for
    many documents at a time."""
    indptr = np.zeros(end - start + 1, np.int64)
    invert(index.stored, start, end, indptr[1:], None, None)
    indptr = np.cumsum(indptr)
    term_ids, impacts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.uint32)
    invert(index.stored, start, end, indptr[:-1].copy(), term_ids, impacts)
    return Rows(indptr, term_ids, impacts)


@compiled
def invert(
    stored: StoredLists,
    start: int,
    end: int,
    cursors: NDArray[np.int64],
    term_ids: NDArray[np.int32] | None,
    impacts: NDArray[np.uint32] | None,
) -> None:
    """Move each row's cursor on by its postings and, where there is room given for them, write them down."""
    range_size = stored.range_size
    places, found = np.empty(range_size + PAD, np.int32), np.empty(range_size + PAD, np.uint32)
    for number in range(start // range_size, min(len(stored.entries), (end + range_size - 1) // range_size)):
        first = number * range_size
        for term in range(stored.entries.shape[1]):
            for i in range(decode_stored(stored, number, term, places, found)):
                row = first + places[i] - start
                if 0 <= row < end - start:
                    if term_ids is not None and impacts is not None:
                        term_ids[cursors[row]], impacts[cursors[row]] = term, found[i]
                    cursors[row] += 1
