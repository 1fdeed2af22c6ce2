"""An index read the other way: the terms of a range of documents, out of the lists of the terms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import release_pages
from lexigraft.index.store import Index

RELEASE_EVERY = 256  # lists; mapped pages read so far are handed back, or a pass would hold the whole index


class Rows(NamedTuple):
    """CSR of a range of documents, term ids ascending within a row."""

    indptr: NDArray[np.int64]
    term_ids: NDArray[np.int32]
    impacts: NDArray[np.uint8]


def iterate_rows(index: Index, start: int, end: int) -> Rows:
    """The terms and impacts of documents start..end-1. Every list of the index is looked at, so ask for many."""
    ordinals, impacts, lengths = [], [], np.zeros(index.n_terms, np.int64)
    for term in range(index.n_terms):
        listed, listed_impacts = index.postings(term)
        first, last = np.searchsorted(listed, (start, end)).tolist()
        if first < last:
            lengths[term] = last - first
            ordinals.append(listed[first:last].copy())
            impacts.append(listed_impacts[first:last].copy())
        if term % RELEASE_EVERY == 0 or term == index.n_terms - 1:
            release_pages(listed, listed_impacts)
    row_of = np.concatenate([np.zeros(0, np.int32), *ordinals]) - start
    order = np.argsort(row_of, kind="stable")  # the lists came by term, so terms stay ascending within a row
    terms = np.repeat(np.arange(index.n_terms, dtype=np.int32), lengths)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row_of, minlength=end - start)))).astype(np.int64)
    return Rows(indptr, terms[order], np.concatenate([np.zeros(0, np.uint8), *impacts])[order])
