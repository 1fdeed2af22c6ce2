"""The impacts that some documents have for some terms, read from the lists of an inverted index.

A list is looked at only in the ranges that hold one of the documents, and each such part is decoded once for all of
them: explaining ten results takes as long as explaining one.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.index.codec import NONE, decode_list, padded
from lexigraft.index.inverted import Index


def impacts_of(index: Index, term_ids: NDArray[np.int32], ordinals: NDArray[np.int32]) -> NDArray[np.uint32]:
    """The impact of every term in every document, uint32 [terms, documents]; 0 where a document lacks a term."""
    order = np.argsort(ordinals, kind="stable")
    found = np.zeros((len(term_ids), len(ordinals)), np.uint32)
    _look_up(
        index.entries, index.stream, index.range_starts, index.meta.range_size, index.n_documents, index.meta.bits,
        np.asarray(term_ids, np.int32), np.asarray(ordinals, np.int32)[order], found,
    )  # fmt: skip
    placed = np.empty_like(found)
    placed[:, order] = found
    return placed


@compiled
def _look_up(
    entries: NDArray[np.uint32],
    stream: NDArray[np.uint16],
    range_starts: NDArray[np.int64],
    range_size: int,
    n_documents: int,
    bits: int,
    term_ids: NDArray[np.int32],
    ordinals: NDArray[np.int32],
    found: NDArray[np.uint32],
) -> None:
    """Fill found[t, d] with the impact of term t in document d; `ordinals` ascend."""
    widest = padded(min(range_size, n_documents))
    places, impacts = np.empty(widest, np.int32), np.empty(widest, np.uint32)
    start = 0
    while start < len(ordinals):
        number = int(ordinals[start]) // range_size
        first = number * range_size
        end = start
        while end < len(ordinals) and int(ordinals[end]) // range_size == number:
            end += 1
        n_padded = padded(min(range_size, n_documents - first))
        for row in range(len(term_ids)):
            entry = int(entries[number, term_ids[row]])
            form = entry & 3
            if form != NONE:
                n = decode_list(stream, range_starts[number] + (entry >> 2), form, bits, n_padded, places, impacts)
                at = 0
                for column in range(start, end):
                    wanted = int(ordinals[column]) - first
                    while at < n and places[at] < wanted:
                        at += 1
                    if at < n and places[at] == wanted:
                        found[row, column] = impacts[at]
        start = end
