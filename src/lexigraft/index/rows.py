"""An index read the other way: the terms of a range of documents, out of the lists of the terms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import NONE, PAD, decode_list, padded
from lexigraft.index.inverted import Index


class Rows(NamedTuple):
    """CSR of a range of documents, term ids ascending within a row."""

    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    impacts: NDArray[np.uint32]


def iterate_rows(index: Index, start: int, end: int) -> Rows:
    """The terms and impacts of documents start..end-1. All lists of the ranges they lie in are read twice, so ask for
    many documents at a time."""
    lists = (index.entries, index.stream, index.range_starts, index.meta.range_size, index.n_documents, index.meta.bits)
    indptr = np.zeros(end - start + 1, np.int64)
    invert(*lists, start, end, indptr[1:], None, None)
    indptr = np.cumsum(indptr)
    term_ids, impacts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.uint32)
    invert(*lists, start, end, indptr[:-1].copy(), term_ids, impacts)
    return Rows(indptr, term_ids, impacts)


@compiled
def invert(
    entries: NDArray[np.uint32],
    stream: NDArray[np.uint16],
    range_starts: NDArray[np.int64],
    range_size: int,
    n_documents: int,
    bits: int,
    start: int,
    end: int,
    cursors: NDArray[np.int64],
    term_ids: NDArray[np.int32] | None,
    impacts: NDArray[np.uint32] | None,
) -> None:
    """Move each row's cursor on by its postings and, where there is room given for them, write them down."""
    places, found = np.empty(range_size + PAD, np.int32), np.empty(range_size + PAD, np.uint32)
    for number in range(start // range_size, min(len(range_starts) - 1, (end + range_size - 1) // range_size)):
        first = number * range_size
        n_padded = padded(min(range_size, n_documents - first))
        for term in range(entries.shape[1]):
            entry = int(entries[number, term])
            if entry & 3 == NONE:
                continue
            n = decode_list(stream, range_starts[number] + (entry >> 2), entry & 3, bits, n_padded, places, found)
            for i in range(n):
                row = first + places[i] - start
                if 0 <= row < end - start:
                    if term_ids is not None and impacts is not None:
                        term_ids[cursors[row]], impacts[cursors[row]] = term, found[i]
                    cursors[row] += 1
