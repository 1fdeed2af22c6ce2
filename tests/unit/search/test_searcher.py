import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError, VocabularyMismatchError
from lexigraft.core.settings import IndexSettings
from lexigraft.search.searcher import METHODS, Searcher
from tests.conftest import index_of, sparse_matrix


@pytest.fixture
def index(tmp_path):
    rows = [{0: 255.0}, {0: 255.0, 1: 10.0}, {1: 30.0}, {}]
    return index_of(sparse_matrix(rows, 3, ["b", "c", "a", "e"]), tmp_path / "i")


def vector(terms):
    return np.array(list(terms), np.int32), np.array(list(terms.values()), np.float32)


@pytest.mark.parametrize("method", METHODS)
def test_by_score_then_id(index, method):
    found = Searcher(index, method).search(*vector({0: 1, 1: 2}), k=10, query_id="q")
    assert (found.query_id, found.doc_ids) == ("q", ("c", "b", "a"))
    assert found.scores == (275.0, 255.0, 60.0)
    assert Searcher(index, method).search(*vector({0: 1}), k=1).doc_ids == ("b",)  # ties with c


@pytest.mark.parametrize("method", METHODS)
def test_nothing_matches(index, method):
    assert Searcher(index, method).search(*vector({2: 1}), k=10).doc_ids == ()
    assert Searcher(index, method).search(*vector({}), k=10).doc_ids == ()
    assert Searcher(index, method).search(*vector({0: 0}), k=10).doc_ids == ()


def test_scores_are_in_the_units_of_the_weights(tmp_path):
    index = index_of(sparse_matrix([{0: 0.51}], 1), tmp_path / "i")
    assert Searcher(index).search(*vector({0: 0.5}), k=1).scores[0] == pytest.approx(0.255)


def test_threads_give_the_same(index):
    queries = sparse_matrix([{0: 1.0}, {1: 2.0}, {}] * 20, 3, [f"q{number}" for number in range(60)])
    searcher = Searcher(index)
    assert searcher.search_batch(queries, 3, threads=4) == searcher.search_batch(queries, 3)


def test_bad_queries(index):
    searcher = Searcher(index)
    with pytest.raises(InputError, match="outside the index's vocabulary of 3 terms"):
        searcher.search(*vector({3: 1}), k=1)
    with pytest.raises(InputError, match="names a term twice"):
        searcher.search(np.array([1, 1], np.int32), np.ones(2, np.float32), k=1)
    with pytest.raises(SettingError, match="1 or more"):
        searcher.search(*vector({0: 1}), k=0)
    with pytest.raises(SettingError, match="one of auto, exhaustive, maxscore"):
        Searcher(index, "magic")
    with pytest.raises(VocabularyMismatchError, match="different vocabularies"):
        searcher.search_batch(sparse_matrix([{0: 1.0}], 2), 1)


def test_exhaustive_counts_every_posting_once(tmp_path):
    rows = [{0: 1.0, 1: 2.0}] * 40 + [{1: 3.0}] * 60 + [{}] * 30  # list 1 is dense: its row has 192 places
    index = index_of(sparse_matrix(rows, 2), tmp_path / "i")
    counts = Searcher(index, "exhaustive").count(sparse_matrix([{0: 1.0, 1: 1.0}], 2, ["q"]), 5)
    assert (counts["NEXT"], counts["SCORE"]) == (140, 100)


@pytest.mark.parametrize("bits", [8, 16])
def test_counters_say_what_a_search_of_everything_reads(tmp_path, bits):
    rows = [{0: 1.0, 1: 2.0}, {1: 3.0}, {2: 1.0}]
    index = index_of(sparse_matrix(rows, 3), tmp_path / "i", settings=IndexSettings(bits=bits))
    counts = Searcher(index, "exhaustive").count(sparse_matrix([{0: 1.0, 1: 1.0}], 3), k=3)
    assert (counts["NEXT"], counts["SCORE"]) == (3, 2)
