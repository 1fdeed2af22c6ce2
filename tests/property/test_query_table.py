"""Queries by a table against their slow twin, a dictionary; and the side that learns against the one that searches."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.model.head import Bags
from lexigraft.model.query_table import QueryTable
from lexigraft.vocab.lookup import TableRows, look_up

WEIGHTS = st.floats(2**-10, 8, width=32)


@st.composite
def tables(draw):
    n_terms = draw(st.integers(1, 12))
    rows = draw(
        st.lists(st.dictionaries(st.integers(0, n_terms - 1), WEIGHTS), min_size=n_terms, max_size=n_terms)
    )  # fmt: skip
    asked = draw(st.lists(st.lists(st.integers(0, n_terms - 1), unique=True).map(sorted), max_size=5))
    return [dict(sorted(row.items())) for row in rows], asked


def as_arrays(rows):
    return TableRows(
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([term for row in rows for term in row], np.int32),
        np.array([weight for row in rows for weight in row.values()], np.float32),
    )


def slowly(rows, asked):
    found: dict[int, np.float32] = {}
    for term in asked:
        for other, weight in rows[term].items():
            found[other] = np.float32(found.get(other, np.float32(0)) + np.float32(weight))
    return dict(sorted(found.items()))


@settings(max_examples=150, deadline=None)
@given(tables())
def test_rows_are_added_up(drawn):
    rows, queries = drawn
    for asked in queries:
        terms, weights = look_up(*as_arrays(rows), np.array(asked, np.int32))
        assert dict(zip(terms.tolist(), weights.tolist(), strict=True)) == slowly(rows, asked)
        assert (np.diff(terms) > 0).all()


@settings(max_examples=100, deadline=None)
@given(tables())
def test_what_learns_is_what_searches(drawn):
    rows, queries = drawn
    table = QueryTable(as_arrays(rows))
    pairs = [(row, term) for row, asked in enumerate(queries) for term in asked]
    bags = Bags(*torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T, torch.ones(len(pairs)))
    found = table(bags, len(queries)).detach().numpy()
    assert found.shape == (len(queries), len(rows))
    for row, asked in zip(found, queries, strict=True):
        terms, weights = look_up(*table.rows(), np.array(asked, np.int32))
        dense = np.zeros(len(rows), np.float32)
        dense[terms] = weights
        np.testing.assert_allclose(row, dense, rtol=1e-5)


@settings(max_examples=50, deadline=None)
@given(tables())
def test_weights_survive_their_logarithms(drawn):
    rows, _ = drawn
    given_rows, kept = as_arrays(rows), QueryTable(as_arrays(rows)).rows()
    assert kept.indptr.tolist() == given_rows.indptr.tolist()
    assert (kept.terms.tolist(), kept.terms.dtype) == (given_rows.terms.tolist(), np.int32)
    np.testing.assert_allclose(kept.weights, given_rows.weights, rtol=1e-5)


def test_a_gradient_is_that_of_small_steps():
    rng = np.random.default_rng(0)
    rows = [dict.fromkeys(sorted(rng.choice(7, 3, replace=False).tolist()), 0.5 + t) for t in range(7)]
    table = QueryTable(as_arrays(rows)).double()
    bags = Bags(torch.tensor([0, 0, 1, 2]), torch.tensor([1, 4, 4, 6]), torch.ones(4))
    start = table.log_weights.detach().clone().requires_grad_()

    def queries(logarithms):
        return torch.func.functional_call(table, {"log_weights": logarithms}, (bags, 3))

    assert torch.autograd.gradcheck(queries, (start,))
