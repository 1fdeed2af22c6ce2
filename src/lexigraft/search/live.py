"""Exact top-k over a live index: the best of every segment, put into one order.

A segment's ranking is the order of all its documents, so the k best of all are among the k best of each. Scores are
real numbers here, integers times the segment's scale; ties, across segments too, are broken by `doc_id`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.core.types import Ranking, SparseMatrix, require_same_vocabulary
from lexigraft.index.live.reader import LiveIndex, Segment
from lexigraft.search.batch import rank_all
from lexigraft.search.searcher import Searcher


class Place(NamedTuple):
    """A document that was found: where it lies, beside what a ranking says of it."""

    doc_id: str
    score: float
    segment: Segment
    ordinal: int

    @property
    def title(self) -> str:
        return self.segment.index.titles[self.ordinal]


class LiveSearcher:
    """One state of a live index, searched by one method; every method returns the same ranking."""

    def __init__(self, index: LiveIndex, method: str = "auto") -> None:
        self.index = index
        self._searchers = [(segment, Searcher(segment.index, method)) for segment in index.segments]

    def search(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, query_id: str = "") -> Ranking:
        """The k living documents with the largest dot product, ties by `doc_id`; only those that share a term. A
        document cut into passages has the score of its best one."""
        found = self.search_places(term_ids, weights, k)
        return Ranking(query_id, tuple(place.doc_id for place in found), tuple(place.score for place in found))

    def search_places(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int) -> list[Place]:
        """The same with the place of each document, best first."""
        if k < 1:
            raise SettingError(f"k = {k} is not allowed: 1 or more")
        found = [
            (segment, *searcher.search_ordinals(term_ids, weights, k, segment.allowed))
            for segment, searcher in self._searchers
            if segment.n_living
        ]
        worst = _kth_largest([scores for _, _, scores in found], k)
        places = []
        for segment, ordinals, scores in found:
            enough = scores >= worst  # equals of the last one stay, until their ids are known
            named = zip(segment.index.names(ordinals[enough]), scores[enough].tolist(), strict=True)
            places += [
                Place(*item, segment, ordinal) for item, ordinal in zip(named, ordinals[enough].tolist(), strict=True)
            ]
        places.sort(key=lambda place: (-place.score, place.doc_id))
        return places[:k]

    def search_batch(self, queries: SparseMatrix, k: int, threads: int = 1) -> list[Ranking]:
        """One ranking per row of `queries`, in order."""
        require_same_vocabulary("the queries", queries.vocab_fingerprint, "the index", self.index.vocab_fingerprint)

        def one(row: int) -> Ranking:
            return self.search(*queries.row(row), k, queries.row_ids[row])

        return rank_all(one, queries.n_rows, threads)


def _kth_largest(scores: list[NDArray[np.float64]], k: int) -> float:
    """The k-th largest of all, or one below all where there are fewer."""
    together = np.concatenate([np.zeros(0), *scores])
    return float(np.partition(together, len(together) - k)[len(together) - k]) if len(together) > k else 0.0
