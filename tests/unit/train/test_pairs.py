"""Batches of pairs: what is relevant is never a negative, wherever it was judged."""

import numpy as np

from lexigraft.train.ranking.pairs import Judged, TrainingPairs, batch_of_step

QUERY_OF, DOCUMENT_OF = np.array([0, 1, 1, 2, 2]), np.array([0, 1, 2, 2, 3])
PAIRS = TrainingPairs(range(3), range(4), QUERY_OF, DOCUMENT_OF)


def test_known_documents_of_a_query_are_relevant_whichever_pair_they_came_with():
    found = Judged(PAIRS).relevant(np.array([1, 2, 0]), np.array([1, 2, 0, 3]))
    assert found.tolist() == [[True, True, False, False], [False, True, False, True], [False, False, True, False]]


def test_the_own_document_of_a_query_is_on_the_diagonal():
    batch = batch_of_step(PAIRS, Judged(PAIRS), 0, 4, seed=1)
    pairs = set(zip(QUERY_OF.tolist(), DOCUMENT_OF.tolist(), strict=True))
    assert set(zip(batch.queries.tolist(), batch.documents.tolist(), strict=True)) <= pairs
    assert batch.relevant.diagonal().all()
    assert len(batch.queries) == 4
