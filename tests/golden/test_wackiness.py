"""Wackiness Scores, curve and W-AUC of ten documents and two inputs, worked out by hand."""

import numpy as np
import pytest

from lexigraft.core.errors import SettingError
from lexigraft.explain.removal import flag, over_threshold, wackiest_share
from lexigraft.explain.wackiness import TextTerms, measure_importance, score_terms
from lexigraft.explain.wackiness_curve import area, curve, significance_letters, whole_vocabulary
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix

# Terms 0..5. Document frequency: t0 in 3 documents, t1 in 2, t2 in 2, t3 in 1, t4 in 6, t5 in none.
DOCUMENTS = [
    {0: 2, 1: 1, 2: 1},  # 4 terms long
    {0: 1, 1: 3},  # 4
    {2: 2},  # 2
    {0: 1, 3: 1},  # 2
    *({4: 1} for _ in range(6)),  # 1 each
]
# x0 holds t0 and is expanded by t1, t2, t5; x1 holds t2 and is expanded by t1, t3.
INPUTS = [{0: 1.0, 1: 0.5, 2: 0.25, 5: 0.125}, {1: 0.25, 2: 1.0, 3: 0.5}]
OWN = [{0: 1}, {2: 1}]
# Found for x0, documents weighing as many as they count: d0 2 + .5 + .25 = 2.75, d1 1 + 1.5 = 2.5, d3 1, d2 .5:
# the first two are d0 and d1, 8 terms together. For x1: d2 2, d0 1.25, d1 .75, d3 .5: d2 and d0, 6 terms together.
#
# S(t1, x0) = (1 + 3)/8 ln(10/2) = ln5 / 2      S(t1, x1) = 1/6 ln5        mean ln5 / 3, the largest
# S(t2, x0) = 1/8 ln5                                                      mean ln5 / 8
# S(t5, x0) = 0, df = 0                                                    mean 0
# S(t3, x1) = 0/6 ln(10/1) = 0                                             mean 0
# Scores: t1 1 - 1 = 0; t2 1 - 3/8 = .625; t3 and t5 1; t0 and t4 were never an expansion.


def counts_of(rows):
    matrix = sparse_matrix(rows, 6)
    return TextTerms(matrix.indptr, matrix.term_ids, matrix.weights.astype(np.int32))


@pytest.fixture
def importance(tmp_path):
    searcher = Searcher(index_of(sparse_matrix(DOCUMENTS, 6), tmp_path / "index"))

    def find(terms, weights):
        return searcher.search_ordinals(terms, weights, 2)[0]

    return measure_importance(sparse_matrix(INPUTS, 6), counts_of(OWN), counts_of(DOCUMENTS), find)


def test_importance_of_every_expansion_term(importance):
    assert importance.expansions.terms.tolist() == [1, 2, 5, 1, 3]
    assert importance.values == pytest.approx([np.log(5) / 2, np.log(5) / 8, 0, np.log(5) / 6, 0])
    assert importance.n_found_nothing == 0


def test_scores(importance):
    found = score_terms(importance, 6)
    assert found.scores == pytest.approx([np.nan, 0, 0.625, 1, np.nan, 1], nan_ok=True)
    assert found.counts.tolist() == [0, 2, 1, 1, 0, 1]
    assert found.largest_term == 1
    assert found.largest_mean == pytest.approx(np.log(5) / 3)
    assert found.coverage == pytest.approx(4 / 6)


def test_scores_by_one_input_alone(importance):
    # x1 alone: means ln5 / 6 and 0.
    assert score_terms(importance, 6, np.array([False, True])).scores == pytest.approx(
        [np.nan, 0, np.nan, 1, np.nan, np.nan], nan_ok=True
    )


def test_curve_and_area(importance):
    scores = score_terms(importance, 6).scores
    # 1, 1 | .625, 0: the second bin's mean is .3125.
    assert curve(scores, 2) == pytest.approx([1, 0.3125])
    assert area(curve(scores, 2)) == pytest.approx(0.65625)
    # Three bins of four terms: floor(0, 4/3, 8/3, 4) = 0, 1, 2, 4.
    assert curve(scores, 3) == pytest.approx([1, 1, 0.3125])
    # Fewer terms than bins: a bin a term.
    assert curve(scores, 100) == pytest.approx([1, 1, 0.625, 0])
    # With t0 and t4 at 1: 1, 1, 1 | 1, .625, 0, and (1 + 1.625 / 3) / 2.
    assert area(curve(whole_vocabulary(scores), 2)) == pytest.approx(0.7708333)


def test_flag_of_a_query(importance):
    scores = score_terms(importance, 6).scores
    # x0: t1 .5 x 0 + t2 .25 x .625 + t5 .125 x 1 = .28125, over a weight of .875; t4 has no score.
    vector = np.array([0, 1, 2, 4, 5], np.int32), np.array([1, 0.5, 0.25, 0.5, 0.125], np.float32)
    found = flag(vector, np.array([0], np.int32), scores)
    assert found.wackiness == pytest.approx(0.28125 / 0.875)
    assert (found.n_expansion, found.n_scored) == (4, 3)
    assert flag((vector[0][:1], vector[1][:1]), np.array([0], np.int32), scores).wackiness is None


def test_terms_to_drop(importance):
    found = score_terms(importance, 6)
    assert over_threshold(found, 0.6).tolist() == [2, 3, 5]
    assert over_threshold(found, 0.625).tolist() == [3, 5]
    assert sorted(wackiest_share(found, 0.5).tolist()) == [3, 5]
    assert wackiest_share(found, 0.75).tolist()[2] == 2
    with pytest.raises(SettingError, match="0 to 1"):
        wackiest_share(found, 1.5)


def test_letters():
    # b lies between a and c and within the noise of both; a and c differ in every run by .2.
    a = np.array([0.10, 0.30, 0.20, 0.40])
    b = np.array([0.35, 0.25, 0.45, 0.35])
    c = a + 0.2
    assert significance_letters([c, a, b]) == ["b", "a", "ab"]
    assert significance_letters([a, a]) == ["a", "a"]
    assert significance_letters([a]) == ["a"]
    assert significance_letters([]) == []
