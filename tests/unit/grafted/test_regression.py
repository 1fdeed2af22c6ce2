import numpy as np
import pytest

from lexigraft.core.types import SparseMatrix
from lexigraft.grafted.regression import fit


def sparse(dense):
    """A matrix of rows given with all their zeros."""
    rows = [np.flatnonzero(row).astype(np.int32) for row in dense]
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    weights = np.concatenate([dense[at][row] for at, row in enumerate(rows)]).astype(np.float32)
    names = [f"d{at}" for at in range(len(dense))]
    return SparseMatrix(names, indptr, np.concatenate(rows), weights, dense.shape[1], "v")


def slow(vectors, weights, ridge):
    """The formula as it stands, in double precision."""
    known = vectors.any(axis=1)
    centred = np.where(known[:, None], vectors - vectors[known].mean(axis=0), 0.0)
    square = centred.T @ centred
    square += ridge * np.trace(square) / len(square) * np.eye(len(square))
    return np.linalg.solve(square, centred.T @ weights).T


def test_two_documents_worked_out_by_hand():
    # Vectors (1, 0) and (0, 1) less their mean: (.5, -.5) and (-.5, .5). E'E = [[.5, -.5], [-.5, .5]], with a ridge
    # of .4 x .5 = .2 on its diagonal: [[.7, -.5], [-.5, .7]], whose determinant is .24. The term of weight 2 in the
    # first document has E'y = (1, -1), so its row is (.7 - .5, .5 - .7) / .24 = (.8333, -.8333).
    found = fit(np.array([[1, 0], [0, 1]], np.float32), sparse(np.array([[2.0], [0.0]])), ridge=0.4, fewest=1)
    assert found.rows == pytest.approx(np.array([[0.2, -0.2]]) / 0.24, rel=1e-5)
    assert found.centred(np.array([[1, 0]], np.float32)) == pytest.approx(np.array([[0.5, -0.5]]))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_it_is_the_formula_in_blocks(kind, monkeypatch):
    monkeypatch.setattr("lexigraft.grafted.regression.ROWS_AT_ONCE", 7)
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(40, 6))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(kind)
    vectors[11] = 0  # a document that says nothing
    weights = chance.random((40, 9)) * (chance.random((40, 9)) < 0.4)
    weights[:, 5] = 0
    weights[3, 5] = 1.0
    found = fit(vectors, sparse(weights), ridge=0.3, fewest=2)
    assert 5 not in found.terms.tolist()  # one document has it: too few
    assert found.rows == pytest.approx(slow(vectors.astype(float), weights, 0.3)[found.terms], rel=1e-3, abs=1e-4)
    assert not found.centred(vectors)[11].any()


def test_documents_of_one_vector_say_nothing():
    found = fit(np.tile(np.array([[0.6, 0.8]], np.float32), (5, 1)), sparse(np.ones((5, 3))), fewest=1)
    assert len(found.terms) == 0
    one = fit(np.array([[0.6, 0.8]], np.float32), sparse(np.ones((1, 3))), fewest=1)
    assert len(one.terms) == 0
