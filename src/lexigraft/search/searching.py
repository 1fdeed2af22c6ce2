"""What every searcher does, so that one can be put around another: an overlap threshold around a search, a second pass
around both."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Ranking
from lexigraft.index.store import Index

Allowed = NDArray[np.uint8]
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
        """The same as the documents' ids."""
        ordinals, scores = self.search_ordinals(term_ids, weights, k)
        return Ranking(query_id, tuple(self.index.names(ordinals)), tuple(scores.tolist()))
