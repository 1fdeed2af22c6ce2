"""What queries touch in an index of four documents, worked out by hand."""

import numpy as np
import pytest

from lexigraft.core.errors import VocabularyMismatchError
from lexigraft.measure.cost import flops
from lexigraft.measure.list_maxima import describe, maxima_of_index
from lexigraft.measure.query_statistics import added_terms, query_statistics
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix

# Lists: t0 in three documents, t1 in two, t2 in one, t3 in none, t4 in one.
DOCUMENTS = [{0: 1.0, 1: 2.0}, {0: 3.0}, {0: 0.5, 1: 4.0, 2: 5.1}, {4: 2.0}]
QUERIES = [{0: 1.0, 2: 1.0}, {1: 1.0}, {3: 2.0, 4: 1.0}, {}]


@pytest.fixture
def index(tmp_path):
    return index_of(sparse_matrix(DOCUMENTS, 5), tmp_path / "i")


def test_postings_and_lengths(index):
    queries = sparse_matrix(QUERIES, 5)
    found = query_statistics(queries, index)
    assert (found.queries, found.queries_without_terms) == (4, 1)
    assert found.query_terms == (2 + 1 + 2 + 0) / 4
    assert found.document_terms == (2 + 1 + 3 + 1) / 4
    assert found.postings_per_query == ((3 + 1) + 2 + (0 + 1) + 0) / 4
    assert flops(queries, index) == found.postings_per_query / 4


def test_queries_of_another_vocabulary_are_refused(index):
    with pytest.raises(VocabularyMismatchError, match="different vocabularies"):
        query_statistics(sparse_matrix(QUERIES, 6), index)


def test_exhaustive_search_reads_every_posting(index):
    counts = Searcher(index, "exhaustive").count(sparse_matrix(QUERIES, 5), 10)
    assert counts["NEXT"] == 7 / 4


def test_maxima(index):
    """The largest weight, 5.1, is 255 impacts, so that one is 0.02: all weights here are kept as they are."""
    scores = maxima_of_index(index).scores
    np.testing.assert_allclose(scores, [3.0, 4.0, 5.1, 0.0, 2.0], rtol=1e-6)
    found = describe(scores, np.array([0.0, 2.5, 4.5]))
    assert found.share_above == pytest.approx([0.8, 0.6, 0.2])
    assert (found.lists, found.median, found.largest) == (5, pytest.approx(3.0), pytest.approx(5.1))
    # Sorted 0 2 3 4 5.1 with factors -4 -2 0 2 4, over 5 times the sum of 14.1.
    assert found.gini == pytest.approx((-2 * 2 + 2 * 4 + 4 * 5.1) / (5 * 14.1))
    assert describe(scores[scores > 0], np.array([0.0])).share_above == [1.0]
    nothing = describe(np.zeros(0), np.array([0.0]))
    assert (nothing.lists, nothing.gini, nothing.p99_to_median) == (0, None, None)


def test_added_terms():
    matrix = sparse_matrix([{0: 1.0, 1: 1.0, 4: 1.0}, {}, {2: 1.0}, {0: 1.0, 3: 1.0}], 5)
    own_indptr, own_terms = np.array([0, 2, 3, 3, 5]), np.array([1, 4, 0, 0, 3], np.int32)
    assert added_terms(matrix, own_indptr, own_terms).tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="3 texts for 4 vectors"):
        added_terms(matrix, own_indptr[:-1], own_terms)
