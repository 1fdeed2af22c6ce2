"""What a right answer is: every document scored by plain integer arithmetic, without an index."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bench.engines.interface import Answer, Terms, Weights


@dataclass(frozen=True)
class Truth:
    """All documents' scores for one query, and the k best of them, best first; only those above 0."""

    scores: NDArray[np.int64]
    best: NDArray[np.int64]

    def fault(self, answer: Answer) -> str | None:
        """Why an exact engine's answer is wrong, or None; documents of equal score may stand in for each other."""
        ids, scores = np.asarray(answer[0]), np.asarray(answer[1])
        if len(ids) != len(self.best):
            return f"{len(ids)} documents instead of {len(self.best)}"
        if len(np.unique(ids)) != len(ids):
            return "a document came twice"
        if not np.array_equal(self.scores[ids], scores):
            return "a score is not its document's"
        if not np.array_equal(np.sort(scores)[::-1], self.best):
            return "a better document is missing"
        return None

    def recall(self, answer: Answer) -> float:
        """The share of the k best that was found; a document that ties with the last of them counts."""
        if not len(self.best):
            return 1.0
        ids = np.unique(np.asarray(answer[0]))
        return min(1.0, int((self.scores[ids] >= self.best[-1]).sum()) / len(self.best))


class Oracle:
    def __init__(self, documents: sp.csr_matrix) -> None:
        self._documents = documents.astype(np.int64)

    def truth(self, terms: Terms, weights: Weights, k: int) -> Truth:
        """The scores of one query against every document."""
        query = np.zeros(self._documents.shape[1], np.int64)
        query[terms] = weights
        scores = self._documents @ query
        best = np.sort(scores)[::-1][:k]
        return Truth(scores, best[best > 0])
