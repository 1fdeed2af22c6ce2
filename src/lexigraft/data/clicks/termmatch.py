"""Which documents hold more than a share of a query's terms, found exactly through inverted lists.

A document that matches more than t of a query's n terms misses fewer than n - t n of them, so it holds at least one of
the query's rarest terms. Only the lists of those are read whole; the others, such as those of stop-words, are only
looked up. No query touches a document that has none of its rare terms.
"""

from array import array
from collections.abc import Iterable, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Matches(NamedTuple):
    """Documents, ascending, and how many of the query's terms each holds."""

    documents: NDArray[np.int64]
    counts: NDArray[np.int64]


class TermMatcher:
    """Inverted lists of documents given as sets of terms; a document is its place among them."""

    def __init__(self, documents: Iterable[Set[str]]) -> None:
        lists: dict[str, array[int]] = {}
        for number, terms in enumerate(documents):
            for term in terms:
                lists.setdefault(term, array("q")).append(number)
        self._lists: dict[str, NDArray[np.int64]] = {
            term: np.frombuffer(numbers, np.int64) for term, numbers in lists.items()
        }
        self._none = np.empty(0, np.int64)

    def above(self, terms: Set[str], threshold: float) -> Matches:
        """The documents that hold more than `threshold` (0 to 1) of `terms`."""
        fewest = int(threshold * len(terms) + 1e-9) + 1
        lists = sorted((self._lists.get(term, self._none) for term in terms), key=len)
        n_read = max(len(lists) - fewest + 1, 0)
        read = [self._none, *lists[:n_read]]
        documents, counts = np.unique(np.concatenate(read), return_counts=True)
        counts = counts.astype(np.int64)
        for numbers in lists[n_read:]:
            place = np.searchsorted(numbers, documents)
            inside = place < len(numbers)
            counts[inside] += numbers[place[inside]] == documents[inside]
        enough = counts >= fewest
        return Matches(documents[enough], counts[enough])
