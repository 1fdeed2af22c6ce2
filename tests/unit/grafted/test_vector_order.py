"""Whether vectors are those of the documents in their rows: seen by the words that texts with near vectors share."""

import logging

import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import SparseMatrix
from lexigraft.grafted import vector_order
from lexigraft.grafted.vector_order import agreement, require_order

N_TOPICS, A_TOPIC = 12, 20


def matrix(rows, n_terms):
    """Rows as {term: weight}."""
    lengths = [len(row) for row in rows]
    ids = np.array([term for row in rows for term in sorted(row)], np.int32)
    weights = np.array([row[term] for row in rows for term in sorted(row)], np.float32)
    names = [f"d{n}" for n in range(len(rows))]
    return SparseMatrix(names, np.cumsum([0, *lengths]), ids, weights, n_terms, "any")


def collection(n=400, seed=0):
    """Texts of one topic each, whose vectors say which, with noise."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, N_TOPICS, n)
    rows = [{int(t) * A_TOPIC + int(w): 1.0 for w in rng.choice(A_TOPIC, 6, replace=False)} for t in topics]
    vectors = np.eye(N_TOPICS)[topics] + rng.standard_normal((n, N_TOPICS)) * 0.1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), matrix(rows, N_TOPICS * A_TOPIC)


def agreement_slowly(vectors, words, queries, candidates):
    won = possible = 0.0
    for query in queries:
        others = [other for other in candidates if other != query]
        shares = []
        for other in others:
            one, two = (dict(zip(*(part.tolist() for part in words.row(row)), strict=True)) for row in (query, other))
            size = (sum(w * w for w in one.values()) * sum(w * w for w in two.values())) ** 0.5
            shares.append(sum(w * two.get(term, 0.0) for term, w in one.items()) / size)
        nearest = max(range(len(others)), key=lambda at: float(vectors[query] @ vectors[others[at]]))
        won += shares[nearest] - sum(shares) / len(others)
        possible += max(shares) - sum(shares) / len(others)
    return won / possible


def test_an_agreement_by_hand():
    """d0 shares half of its (unit) words with d1 and none with d2, whose vector is nearest: (0 - 1/4) / (1/2 - 1/4)."""
    words = matrix([{0: 1.0, 1: 1.0}, {0: 1.0, 2: 1.0}, {3: 2.0}], 4)
    vectors = np.array([[1.0, 0], [0, 1], [0.8, 0.6]])
    assert agreement(vectors, words, np.array([0]), np.array([0, 1, 2])) == pytest.approx(-1)
    assert agreement(vectors[[0, 2, 1]], words, np.array([0]), np.array([0, 1, 2])) == pytest.approx(1)


def test_the_agreement_is_that_of_its_slow_twin():
    vectors, words = collection(60)
    queries, candidates = np.arange(5, 25), np.arange(0, 60, 2)
    found = agreement(vectors, words, queries, candidates)
    assert found == pytest.approx(agreement_slowly(vectors, words, queries, candidates), abs=1e-9) and found > 0.3


def test_the_right_order_is_taken(caplog):
    with caplog.at_level(logging.WARNING):
        require_order(*collection(), "v.npy")
    assert not caplog.messages


def test_another_order_is_refused():
    vectors, words = collection()
    with pytest.raises(InputError, match=r"^v.npy: the vectors from row 0 .* do not seem to be") as error:
        require_order(vectors[np.random.default_rng(1).permutation(len(vectors))], words, "v.npy")
    assert "\n" not in str(error.value)


def test_rows_are_named_from_which_the_order_is_another():
    vectors, words = collection()
    moved = np.concatenate([vectors[:320], np.roll(vectors[320:], 1, axis=0)])
    with pytest.raises(InputError, match=r"from row 320 \(from 0, 'd320'\)"):
        require_order(moved, words, "v.npy")


def test_an_error_names_the_first_rows_that_are_not_certain(monkeypatch):
    shares = iter([float("nan"), 0.5, 0.2, 0.05, -0.01])
    monkeypatch.setattr(vector_order, "agreement", lambda *_: next(shares))
    with pytest.raises(InputError, match=r"from row 160 .* in the rows to 239 texts with near vectors share 20%"):
        require_order(*collection(), "v.npy")


def test_what_may_be_another_order_is_said(monkeypatch, caplog):
    monkeypatch.setattr(vector_order, "LITTLE", 2.0)
    with caplog.at_level(logging.WARNING):
        require_order(*collection(), "v.npy")
    (line,) = caplog.messages
    assert "may not be those" in line


def test_nothing_is_said_of_few_documents_or_of_texts_without_common_words():
    vectors, words = collection(49)
    require_order(vectors[::-1], words, "v.npy")
    vectors, _ = collection(100)
    require_order(vectors, matrix([{n: 1.0} for n in range(100)], 100), "v.npy")
    require_order(vectors, matrix([{}] * 100, 1), "v.npy")


def test_documents_without_words_are_left_out():
    vectors, words = collection()
    rows = [{} if n % 3 else dict(zip(*(p.tolist() for p in words.row(n)), strict=True)) for n in range(words.n_rows)]
    require_order(np.where(np.arange(len(rows))[:, None] % 3, 0, vectors), matrix(rows, words.n_terms), "v.npy")
