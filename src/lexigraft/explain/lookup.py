"""The impacts that some documents have for some terms, read from the lists of an inverted index.

A list is looked at only in the ranges that hold one of the documents, and each such part is decoded once for all of
them: explaining ten results takes as long as explaining one.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import are_loaded, compiled, worth_loading
from lexigraft.index.codec import padded
from lexigraft.index.inverted import Index
from lexigraft.index.lists_by_numpy import list_in_range
from lexigraft.index.stored_lists import StoredLists, decode_stored

WORK_OF_A_LIST = 2000  # of decoding one without a kernel, beside that of its postings (see `worth_loading`)


def impacts_of(index: Index, term_ids: NDArray[np.int32], ordinals: NDArray[np.int32]) -> NDArray[np.uint32]:
    """The impact of every term in every document, uint32 [terms, documents]; 0 where a document lacks a term."""
    order = np.argsort(ordinals, kind="stable")
    found = np.zeros((len(term_ids), len(ordinals)), np.uint32)
    fill = fill_impacts if are_loaded() or worth_loading(_work(index, term_ids, ordinals)) else fill_by_numpy
    fill(index.stored, np.asarray(term_ids, np.int32), np.asarray(ordinals, np.int32)[order], found)
    placed = np.empty_like(found)
    placed[:, order] = found
    return placed


def _work(index: Index, term_ids: NDArray[np.int32], ordinals: NDArray[np.int32]) -> int:
    """Of looking impacts up without a kernel (see `worth_loading`)."""
    n_ranges = len(set((ordinals // index.meta.range_size).tolist()))
    return int(index.lengths[term_ids].sum()) + WORK_OF_A_LIST * len(term_ids) * n_ranges


@compiled
def fill_impacts(
    stored: StoredLists, term_ids: NDArray[np.int32], ordinals: NDArray[np.int32], found: NDArray[np.uint32]
) -> None:
    """Fill found[t, d] with the impact of term t in document d; `ordinals` ascend."""
    widest = padded(min(stored.range_size, stored.n_documents))
    places, impacts = np.empty(widest, np.int32), np.empty(widest, np.uint32)
    start = 0
    while start < len(ordinals):
        number = int(ordinals[start]) // stored.range_size
        first = number * stored.range_size
        end = start
        while end < len(ordinals) and int(ordinals[end]) // stored.range_size == number:
            end += 1
        for row in range(len(term_ids)):
            n = decode_stored(stored, number, term_ids[row], places, impacts)
            at = 0
            for column in range(start, end):
                wanted = int(ordinals[column]) - first
                while at < n and places[at] < wanted:
                    at += 1
                if at < n and places[at] == wanted:
                    found[row, column] = impacts[at]
        start = end


def fill_by_numpy(
    stored: StoredLists, term_ids: NDArray[np.int32], ordinals: NDArray[np.int32], found: NDArray[np.uint32]
) -> None:
    """The twin of `fill_impacts` for a process without kernels."""
    numbers = ordinals // stored.range_size
    for number in sorted(set(numbers.tolist())):
        columns = np.flatnonzero(numbers == number)
        wanted = ordinals[columns] - number * stored.range_size
        for row, term in enumerate(term_ids.tolist()):
            places, impacts = list_in_range(stored, number, term)
            at = np.searchsorted(places, wanted)
            here = np.append(places, -1)[at] == wanted
            found[row, columns[here]] = impacts[at[here]]
