"""What fine-tuning learns from: distinct texts, the pairs among them, and the batch of a step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.inference.reading import ReadTexts
from lexigraft.train.batches import rows_of_step
from lexigraft.train.ranking.negatives import HardNegatives, draw

NEGATIVES_STREAM = 2  # of the random numbers: apart from those of batches and masks


class TrainingPairs(NamedTuple):
    """Pair i is row `query_of[i]` of `queries` and row `document_of[i]` of `documents`.

    `negatives`: the hard ones of every query; `teacher` [pairs]: its scores of the pairs, not a number where unknown.
    """

    queries: ReadTexts
    documents: ReadTexts
    query_of: NDArray[np.int64]
    document_of: NDArray[np.int64]
    negatives: HardNegatives | None = None
    teacher: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.query_of)


class PairBatch(NamedTuple):
    """Rows of the texts of a batch, over all processes together. The own document of query i is document i; the hard
    negatives that are not among those follow, each once.

    `relevant` [queries, documents]: the documents that are known to be relevant to a query, its own among them; they
    are no negatives of it. `own_negatives` [queries, n]: the places in `documents` of the negatives drawn for each
    query, -1 where it has no more; every other query has them as negatives too. `teacher` [queries, 1 + n]: the
    teacher's scores of the own document and of those negatives, not a number where unknown.
    """

    queries: NDArray[np.int64]
    documents: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    own_negatives: NDArray[np.int64] | None = None
    teacher: NDArray[np.float32] | None = None


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


def batch_of_step(
    pairs: TrainingPairs, judged: Judged, step: int, size: int, seed: int, n_negatives: int = 0
) -> PairBatch:
    """The pairs of a step and `n_negatives` hard negatives for each, as a function of its number."""
    rows = rows_of_step(step, len(pairs), size, seed)
    queries, documents = pairs.query_of[rows], pairs.document_of[rows]
    if pairs.negatives is None or not n_negatives:
        return PairBatch(queries, documents, judged.relevant(queries, documents))
    drawn, scores = draw(pairs.negatives, queries, n_negatives, np.random.default_rng((seed, NEGATIVES_STREAM, step)))
    documents, own_negatives = with_negatives(documents, drawn)
    teacher = None
    if pairs.teacher is not None:
        teacher = np.concatenate((pairs.teacher[rows, None], scores), axis=1)
    return PairBatch(queries, documents, judged.relevant(queries, documents), own_negatives, teacher)


def with_negatives(
    documents: NDArray[np.int64], drawn: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(documents with the rows in `drawn` that are not among them, each once; where each of `drawn` is in them).

    -1 in `drawn` is no document, and stays -1.
    """
    columns = np.concatenate((documents, np.setdiff1d(drawn[drawn >= 0], documents)))
    order = np.argsort(columns, kind="stable")
    places = order[np.searchsorted(columns[order], drawn)]
    return columns, np.where(drawn < 0, -1, places)
