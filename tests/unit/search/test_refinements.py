"""What searches with an overlap threshold, a second pass or a fusion refuse, and small cases worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError, VocabularyMismatchError
from lexigraft.core.settings import IndexSettings, SearchSettings
from lexigraft.core.types import Ranking
from lexigraft.search.fusion import fuse, fuse_runs
from lexigraft.search.overlap import OverlapSearcher, overlap_mask
from lexigraft.search.searcher import Searcher
from lexigraft.search.two_step import TwoStepSearcher
from lexigraft.vectors.store import DocumentVectors
from tests.conftest import index_of, sparse_matrix, vocabulary_of

ROWS = [{0: 3.0}, {0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0, 2: 0.5}, {2: 9.0}]


def vector(terms):
    return np.array(list(terms), np.int32), np.array(list(terms.values()), np.float32)


def vectors_of(matrix):
    return DocumentVectors(matrix, list(matrix.row_ids), vocabulary_of(matrix.n_terms), {"kind": "none"}, "")


@pytest.fixture
def index(tmp_path):
    return index_of(sparse_matrix(ROWS, 4), tmp_path / "i")


def test_overlap_by_hand(index):
    query = vector({0: 1, 1: 1, 2: 1, 3: 1})  # no document has term 3: half of the other three is two of them
    assert overlap_mask(index, *query, 0.5).tolist() == [0, 1, 1, 0]
    assert overlap_mask(index, *query, 1.0).tolist() == [0, 0, 1, 0]
    assert overlap_mask(index, *query, 0.0).tolist() == [1, 1, 1, 1]
    assert OverlapSearcher(Searcher(index), 0.5).search(*query, 9).doc_ids == ("d2", "d1")
    assert overlap_mask(index, *vector({0: 1, 1: 0, 2: 0}), 1.0).tolist() == [1, 1, 1, 0]  # weights of 0 do not ask


def test_overlap_around_a_second_pass_and_within(index):
    vectors = vectors_of(sparse_matrix(ROWS, 4))
    two_step = TwoStepSearcher(OverlapSearcher(Searcher(index), 1.0), vectors, 10, keep=1)
    # The first pass searches term 1 alone, which d1 and d2 hold; the second ranks by all.
    assert two_step.search(*vector({0: 1, 1: 2, 2: 1}), 10).doc_ids == ("d2", "d1")
    assert two_step.search(*vector({0: 1, 1: 2, 2: 1}), 10).scores == (3.5, 3.0)
    allowed = np.array([1, 1, 0, 1], np.uint8)
    assert two_step.search_ordinals(*vector({0: 1, 1: 2}), 10, allowed)[0].tolist() == [1]


def test_overlap_refuses(index):
    with pytest.raises(SettingError, match=r"overlap = 1.5 is not allowed"):
        OverlapSearcher(Searcher(index), 1.5)
    with pytest.raises(InputError, match="outside the index's vocabulary of 4 terms"):
        overlap_mask(index, *vector({4: 1}), 0.5)
    with pytest.raises(InputError, match="a query of 1 terms has 2 weights"):
        overlap_mask(index, np.zeros(1, np.int32), np.ones(2, np.float32), 0.5)
    with pytest.raises(InputError, match="3 flags of what may be found, for 4 documents"):
        overlap_mask(index, *vector({0: 1}), 0.5, np.ones(3, np.uint8))


def test_two_step_refuses(index):
    vectors = vectors_of(sparse_matrix(ROWS, 4))
    with pytest.raises(SettingError, match="k = 3 results cannot come from 2 candidates"):
        TwoStepSearcher(Searcher(index), vectors, 2).search(*vector({0: 1}), 3)
    with pytest.raises(SettingError, match="1 candidate or more"):
        TwoStepSearcher(Searcher(index), vectors, 0)
    with pytest.raises(InputError, match="vectors are of 1 documents or passages, the index of 4"):
        TwoStepSearcher(Searcher(index), vectors_of(sparse_matrix(ROWS[:1], 4)), 2)
    with pytest.raises(VocabularyMismatchError):
        TwoStepSearcher(Searcher(index), vectors_of(sparse_matrix(ROWS, 5)), 2)
    others = replace(vectors, matrix=sparse_matrix(ROWS, 4, ["d1", "d0", "d2", "d3"]))
    with pytest.raises(InputError, match="document 'd0' of the index is 'd1' in the vectors"):
        TwoStepSearcher(Searcher(index), others, 2).search(*vector({0: 1}), 1)


def test_fusion_refuses():
    some = [Ranking("q", ("a",), (1.0,))] * 2
    with pytest.raises(SettingError, match="k = -1 is not allowed"):
        fuse(some, k=-1)
    with pytest.raises(SettingError, match="1 weights are given for 2 runs"):
        fuse_runs([some[:1], some[:1]], weights=[1.0])
    with pytest.raises(SettingError, match="not all of them 0"):
        fuse(some, weights=[0.0, 0.0])
    with pytest.raises(SettingError, match="depth = 0"):
        fuse(some, depth=0)
    with pytest.raises(InputError, match="document 'b' was ranked for query 'q' twice"):
        fuse([some[0], Ranking("q", ("a", "b", "b"), (3.0, 2.0, 1.0))])
    assert fuse(some, weights=[1.0, 0.0]).scores == (1 / 61,)


def test_settings_refuse():
    with pytest.raises(SettingError, match=r"search.overlap = 2.0 is not allowed"):
        SearchSettings(overlap=2.0)
    with pytest.raises(
        SettingError, match=r"search.two_step = 10 is not allowed: 0 \(off\), or as many as search.k, which is 100"
    ):
        SearchSettings(k=100, two_step=10)
    assert SearchSettings().method == "auto"


def test_a_reordered_index_finds_its_vectors(tmp_path):
    rng = np.random.default_rng(0)
    topics = [[{8 * topic + int(term): float(rng.integers(1, 9)) for term in rng.choice(8, 4, replace=False)}
               for _ in range(300)] for topic in range(2)]  # fmt: skip
    rows = [row for pair in zip(*topics, strict=True) for row in pair]  # the topics by turns, until they are sorted
    matrix = sparse_matrix(rows, 16)
    index = index_of(matrix, tmp_path / "r", settings=IndexSettings(reorder=True))
    assert list(index.doc_ids) != list(matrix.row_ids)
    found = TwoStepSearcher(Searcher(index), vectors_of(matrix), 600).search(*vector({0: 1, 9: 2}), 20)
    exact = sorted((-(row.get(0, 0) + 2 * row.get(9, 0)), f"d{number}") for number, row in enumerate(rows))[:20]
    assert [(-score, doc_id) for doc_id, score in zip(found.doc_ids, found.scores, strict=True)] == exact
