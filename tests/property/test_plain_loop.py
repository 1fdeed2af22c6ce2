"""The plain loop equals a dense oracle in numpy: the same scores, the same documents, ties by the smaller id."""

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.engines.plain import PlainLoop
from bench.plain_loop import ranked, search_plain

N_TERMS = 6  # few, so that lists are long and ties common
ROWS = st.lists(st.lists(st.integers(0, 4), min_size=N_TERMS, max_size=N_TERMS), min_size=1, max_size=40)
QUERIES = st.dictionaries(st.integers(0, N_TERMS - 1), st.integers(1, 3), max_size=N_TERMS)


@settings(max_examples=150)
@given(ROWS, QUERIES, st.integers(1, 45))
def test_it_equals_the_dense_product(rows, query, k):
    dense = np.array(rows, np.int64)
    terms, weights = np.array(sorted(query), np.int32), np.array([query[term] for term in sorted(query)], np.int32)
    scores = dense[:, terms] @ weights
    expected = sorted((-score, row) for row, score in enumerate(scores.tolist()) if score > 0)[:k]
    loop = PlainLoop()
    with tempfile.TemporaryDirectory() as folder:
        loop.build(sp.csr_matrix(dense.astype(np.uint8)), Path(folder))
    for _ in range(2):  # the second time shows that the accumulators were left clean
        ids, found = loop.search(terms, weights, k)
        assert [(-score, row) for row, score in zip(ids.tolist(), found.tolist(), strict=True)] == expected


def test_impacts_and_weights_at_their_largest_do_not_overflow():
    n_terms = 500
    lists = np.arange(n_terms + 1, dtype=np.int64), np.zeros(n_terms, np.int32), np.full(n_terms, 255, np.uint8)
    heap = np.empty(1, np.int64)
    terms, weights = np.arange(n_terms, dtype=np.int32), np.full(n_terms, 255, np.int32)
    size = search_plain(*lists, terms, weights, np.zeros(1, np.int32), heap)
    assert ranked(heap, size)[1].tolist() == [255 * 255 * n_terms]
