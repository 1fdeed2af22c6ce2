"""What every searcher does, so that one can be put around another: an overlap threshold around a search, a second pass
around both."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import Ranking
from lexigraft.index.inverted import Index

Allowed = NDArray[np.uint8]
INT32 = np.dtype(np.int32)
Found = tuple[NDArray[np.int32], NDArray[np.float64]]


class Searching(Protocol):
    """A searcher over `index`, whose rows it finds."""

    index: Index

    def search_ordinals(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, allowed: Allowed | None = None
    ) -> Found:
        """(rows, scores) of the k best, best first, ties by `doc_id`; `allowed`, one byte a row, says which may be
        found (0: not)."""
        ...

    def search(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, query_id: str = "") -> Ranking:
        """The ranking of a query, by the documents' ids; a document cut into passages has the score of its best one."""
        ordinals, scores = self.search_ordinals(term_ids, weights, k)
        return Ranking(query_id, tuple(self.index.names(ordinals)), tuple(scores.tolist()))


def outside_vocabulary(n_terms: int) -> InputError:
    """What to raise for a query's term id that no term has."""
    return InputError(
        f"the query has a term id outside the index's vocabulary of {n_terms} terms, 0 .. {n_terms - 1}; encode it "
        "with the encoder of the index"
    )


def narrowed_terms(term_ids: ArrayLike, n_terms: int) -> NDArray[np.int32]:
    """A query's term ids of any other type as int32. Raises `InputError` where that would change one."""
    found = np.asarray(term_ids)
    if found.dtype.kind not in "iu" and found.size:
        raise InputError(f"a query's term ids are of type {found.dtype}; whole numbers are allowed: give int32")
    if found.size and not 0 <= int(found.min()) <= int(found.max()) < n_terms:
        raise outside_vocabulary(n_terms)
    return found.astype(np.int32)
