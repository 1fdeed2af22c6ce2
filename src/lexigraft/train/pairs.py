"""What fine-tuning learns from: distinct texts, the pairs among them, and the batch of a step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.model.inputs import ReadTexts
from lexigraft.train.batches import rows_of_step


class TrainingPairs(NamedTuple):
    """Pair i is row `query_of[i]` of `queries` and row `document_of[i]` of `documents`."""

    queries: ReadTexts
    documents: ReadTexts
    query_of: NDArray[np.int64]
    document_of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.query_of)


class PairBatch(NamedTuple):
    """Rows of the texts of a batch, over all processes together. The own document of query i is document i.

    `relevant` [queries, documents]: the documents that are known to be relevant to a query, its own among them; they
    are no negatives of it.
    """

    queries: NDArray[np.int64]
    documents: NDArray[np.int64]
    relevant: NDArray[np.bool_]


class Judged:
    """Knows which documents are relevant to which queries."""

    def __init__(self, pairs: TrainingPairs) -> None:
        self._n_documents = len(pairs.documents)
        self._keys = np.unique(pairs.query_of * self._n_documents + pairs.document_of)

    def relevant(self, queries: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """[queries, documents]: whether each of these documents is relevant to each of these queries."""
        asked = queries[:, None] * self._n_documents + documents[None, :]
        at = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        found: NDArray[np.bool_] = self._keys[at] == asked
        return found


def batch_of_step(pairs: TrainingPairs, judged: Judged, step: int, size: int, seed: int) -> PairBatch:
    """The pairs of a step, as a function of its number."""
    rows = rows_of_step(step, len(pairs), size, seed)
    queries, documents = pairs.query_of[rows], pairs.document_of[rows]
    return PairBatch(queries, documents, judged.relevant(queries, documents))
