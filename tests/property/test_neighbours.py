"""Neighbours equal those of a slow twin that compares every pair in float64, whatever the blocks; numpy finds what the
kernel finds."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.compiled import load_kernels
from lexigraft.grafted import neighbours
from lexigraft.grafted.best_rows import BestRows
from lexigraft.grafted.neighbours import nearest, nearest_to
from tests.property.test_without_kernels import without_kernels

WIDTH = 24


def some_rows(n, dtype, seed):
    """Rows of any length, some of them alike and some of zeros."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, WIDTH)) * rng.uniform(0.1, 10, size=(n, 1))
    rows = rows[rng.integers(n, size=n)] if seed % 2 else rows
    rows[rng.random(n) < 0.1] = 0
    return rows.astype(dtype)


def slowly(queries, vectors, k, themselves=False):
    """The slow, obvious twin: every cosine by itself, sorted."""
    rows, cosines = np.full((len(queries), k), -1), np.full((len(queries), k), -1, np.float32)
    for i, query in enumerate(queries.astype(np.float64)):
        found = []
        for j, vector in enumerate(vectors.astype(np.float64)):
            if query.any() and vector.any() and not (themselves and i == j):
                cosine = np.dot(query, vector) / np.linalg.norm(query) / np.linalg.norm(vector)
                found.append((-np.float32(cosine), j))
        for place, (negative, j) in enumerate(sorted(found)[:k]):
            rows[i, place], cosines[i, place] = j, -negative
    return rows, cosines


def assert_same(found, expected):
    assert (found.rows.dtype, found.cosines.dtype) == (np.int32, np.float32)
    np.testing.assert_array_equal(found.rows, expected[0])
    np.testing.assert_allclose(found.cosines, expected[1], atol=2e-7)


@settings(deadline=None)
@given(
    n=st.integers(1, 60), k=st.integers(1, 12), dtype=st.sampled_from([np.float16, np.float32]),
    seed=st.integers(0, 99), block=st.sampled_from([5, 16, 2048]), by_kernel=st.booleans(),
)  # fmt: skip
def test_equals_the_slow_twin(n, k, dtype, seed, block, by_kernel):
    rows, queries = some_rows(n, dtype, seed), some_rows(7, dtype, seed + 1000)
    queries[:3] = rows[:3] if n > 2 else 0
    if by_kernel:
        load_kernels()
    with pytest.MonkeyPatch.context() as patch, nullcontext() if by_kernel else without_kernels():
        patch.setattr(neighbours, "BLOCK", block)
        assert_same(nearest(rows, k), slowly(rows, rows, k, themselves=True))
        assert_same(nearest_to(queries, rows, k), slowly(queries, rows, k))


@given(n=st.integers(1, 40), depth=st.integers(1, 8), seed=st.integers(0, 99), to_both=st.booleans())
def test_offers_that_come_again_are_kept_once(n, depth, seed, to_both):
    """Rows and others that overlap, in any blocks: the products kept are the best of the distinct pairs that met."""
    rng = np.random.default_rng(seed)
    products = np.tril(rng.integers(-5, 6, size=(n, n)))
    products = (products + products.T).astype(np.float32)
    np.fill_diagonal(products, -np.inf)
    by_kernel, by_numpy, met = BestRows.of(n, depth), BestRows.of(n, depth), np.zeros((n, n), bool)
    for _ in range(4):
        rows, others = (np.flatnonzero(rng.random(n) < 0.6) for _ in range(2))
        block = products[np.ix_(rows, others)]
        load_kernels()
        by_kernel.offer(block, rows, others, to_both)
        with without_kernels():
            by_numpy.offer(block, rows, others, to_both)
        met[np.ix_(rows, others)] = True
        met |= met.T if to_both else False
    best = -np.sort(-np.where(met, products, -np.inf), axis=1)[:, :depth]
    for found in (by_kernel, by_numpy):
        np.testing.assert_array_equal(found.products[:, : best.shape[1]], best)
        for row, of_one in enumerate(found.rows):
            kept = of_one[np.isfinite(found.products[row])]
            assert len(set(kept)) == len(kept)
            np.testing.assert_array_equal(products[row, kept], found.products[row, : len(kept)])
            assert (of_one[len(kept) :] == -1).all()
