import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.grafted import rows as graft_rows
from lexigraft.grafted.neighbours import Neighbours, nearest
from lexigraft.grafted.regression import Regression, fit
from lexigraft.grafted.rows import Graft, lending
from lexigraft.grafted.shares import LIFTED, Shares, own_lifts, usual_lift
from lexigraft.grafted.threshold import likely, sampled_rows, threshold_for
from lexigraft.grafted.write import make_graft, threshold_of
from tests.unit.grafted.test_regression import sparse


def whole(graft, threshold=0.0):
    """All rows, with all their zeros."""
    blocks = list(graft.rows(np.arange(graft.weights.n_rows), threshold))
    return np.concatenate([one.toarray() for one in blocks])


def slow(weights, vectors, graft):
    """The rows as the formula says them, term by term."""
    neighbours, regression = graft.neighbours, graft.regression
    gain = np.zeros(weights.shape)
    for row in range(len(weights)):
        there = neighbours.rows[row] >= 0
        if there.any():
            shares = np.exp(10 * (neighbours.cosines[row][there] - neighbours.cosines[row][0]))
            gain[row] += (
                graft.shares.borrowed
                * (shares[:, None] * weights[neighbours.rows[row][there]]).sum(axis=0)
                / shares.sum()
            )
        if vectors[row].any():
            told = (vectors[row] - regression.mean) @ regression.rows.T
            gain[row][regression.terms] += graft.shares.told * np.maximum(told, 0)
    n_own = (weights > 0).sum(axis=1, keepdims=True)
    lift = np.where(n_own < 8, 0.0, graft.shares.lifted)
    return weights + np.where(weights > 0, lift, 1.0) * gain


def test_three_documents_worked_out_by_hand(monkeypatch):
    # d0's nearest are d1 (cosine .8) and d2 (.6): they lend exp(0) and exp(-2) = .1353 parts, .8808 and .1192 of the
    # whole. The row of the second term is (1, 0): of d0's vector (1, 0), less the mean (.4, .4), it says .6. Of d2,
    # whose vector (.6, .8) it says .2 of, that term is borrowed from d1, too. d1 has one word, its own: its gain is
    # .4, of a vector (.8, .6), and a quarter of it counts.
    weights = sparse(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))
    neighbours = Neighbours(
        np.array([[1, 2], [0, 2], [0, 1]], np.int32), np.array([[0.8, 0.6], [0.8, 0.5], [0.6, 0.5]], np.float32)
    )
    told = Regression(np.array([0.4, 0.4], np.float32), np.array([1], np.int32), np.array([[1.0, 0.0]], np.float32))
    vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]], np.float32)
    title = whole(Graft(weights, vectors, neighbours, told, Shares(0.5, 1.0, 0.25)))
    assert title[1][1] == 1.0  # of so few words none is lifted
    monkeypatch.setattr("lexigraft.grafted.shares.TITLE_WORDS", 1)
    found = whole(Graft(weights, vectors, neighbours, told, Shares(0.5, 1.0, 0.25)))
    first = 1 / (1 + np.exp(-2))
    assert found[0] == pytest.approx([2.0, 0.5 * first + 0.6, 0.5 * (1 - first) * 3], rel=1e-5)
    assert found[1][1] == pytest.approx(1.0 + 0.4 / 4, rel=1e-5)
    assert found[2][1] == pytest.approx(0.2 + 0.5 / (1 + np.exp(1)), rel=1e-5)  # d1 is the farther of two
    cut = whole(Graft(weights, vectors, neighbours, told, Shares(0.5, 1.0)), 0.5)
    assert cut[0] == pytest.approx([2.0, 0.5 * first + 0.6, 0.0], rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.floats(0, 2), st.floats(0, 2), st.floats(0, 1), st.floats(0, 1))
def test_blocks_are_the_formula(seed, n_rows, borrowed, told, lifted, threshold):
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(n_rows, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[chance.random(n_rows) < 0.1] = 0
    weights = (chance.random((n_rows, 20)) * (chance.random((n_rows, 20)) < 0.4)).astype(np.float32)
    matrix = sparse(weights)
    graft = Graft(matrix, vectors, nearest(vectors, 3), fit(vectors, matrix, fewest=1), Shares(borrowed, told, lifted))
    exact = slow(weights, vectors, graft)
    before, graft_rows.CELLS_AT_ONCE = graft_rows.CELLS_AT_ONCE, 40  # several blocks
    try:
        found, wanted = whole(graft, threshold), np.array([n_rows - 1, 0])
        some = np.concatenate([one.toarray() for one in graft.rows(wanted, threshold)])
    finally:
        graft_rows.CELLS_AT_ONCE = before
    # What a vector may say below a fifth of the threshold is not looked at, and float32 may fall on either side.
    slack = graft_rows.NEGLIGIBLE * threshold + 1e-4
    kept = found > 0
    assert found[kept] == pytest.approx(exact[kept], abs=slack)
    assert (exact[~kept] < threshold + slack).all() and (found[kept] >= np.float32(threshold)).all()
    assert some == pytest.approx(found[wanted], abs=1e-5)


def test_what_neighbours_lend_adds_up_to_one():
    found = lending(Neighbours(np.array([[1, -1], [-1, -1]], np.int32), np.zeros((2, 2), np.float32)), np.arange(2), 2)
    assert found.toarray().tolist() == [[0, 1], [0, 0]]


def test_the_threshold_pays_for_the_postings_that_are_asked_for():
    # The first term is asked for three times in four. In order of weight the postings cost .75, .25, .75, .25: for
    # 1.0 the two heaviest can be had, and for 1.5 no third.
    rows = sparse(np.array([[4.0, 3.0], [2.0, 1.0]]))
    blocks = [_csr(rows)]
    asked = np.array([0.75, 0.25])
    assert 2 < threshold_for(blocks, asked, 1.0) <= 3
    assert 2 < threshold_for(blocks, asked, 1.5) <= 3
    assert 1 < threshold_for(blocks, asked, 1.75) <= 2
    assert threshold_for(blocks, asked, 2.0) == 0
    assert threshold_for([], asked, 1.0) == 0


def test_a_cost_is_kept_on_the_queries_that_it_was_chosen_for():
    chance = np.random.default_rng(5)
    vectors = chance.normal(size=(300, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    matrix = sparse(chance.random((300, 60)) * (chance.random((300, 60)) < 0.2))
    graft, asked = make_graft(matrix, vectors, Shares(0.7, 1.0), 5), likely(matrix)
    bm25 = asked[matrix.term_ids].sum()
    costs = []
    for cost in (0.5, 1.0, 1.5, None):
        kept = list(graft.rows(np.arange(300), threshold_of(graft, cost)))
        costs.append(sum(asked[one.indices].sum() for one in kept) / bm25)
    assert costs[:3] == pytest.approx([0.5, 1.0, 1.5], rel=0.03)  # terms that can weigh little are not looked at
    assert costs[3] > 1.5


def test_own_words_of_titles_are_not_lifted():
    assert own_lifts(np.array([0, 7, 15]), 0.5).tolist() == [0.0, 0.5]
    assert usual_lift(np.array([0, 10, 24])) == LIFTED and usual_lift(np.array([0, 10, 23])) == 0
    vectors = np.eye(3, dtype=np.float32)
    assert make_graft(sparse(np.ones((3, 12))), vectors, Shares(1.0, 1.0), 2).shares == (1.0, 1.0, LIFTED)


def test_samples_are_spread_over_all_rows(monkeypatch):
    assert sampled_rows(3).tolist() == [0, 1, 2]
    monkeypatch.setattr("lexigraft.grafted.threshold.SAMPLE", 5)
    assert sampled_rows(101).tolist() == [0, 25, 50, 75, 100]


def _csr(matrix):
    from scipy.sparse import csr_matrix

    return csr_matrix((matrix.weights, matrix.term_ids, matrix.indptr), shape=(matrix.n_rows, matrix.n_terms))
