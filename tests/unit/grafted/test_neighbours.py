"""Neighbours of a handful of rows worked out by hand, of bad input, and by cells."""

import numpy as np
import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.grafted import cells, neighbours
from lexigraft.grafted.best_rows import BestRows, offer_neighbours_of_neighbours
from lexigraft.grafted.neighbours import nearest, nearest_to
from lexigraft.grafted.whole_rows import LONGEST, whole_rows


def clustered(n=600, width=24, dtype=np.float16):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(20, width))[rng.integers(20, size=n)] + 0.5 * rng.normal(size=(n, width))).astype(dtype)


def test_four_rows_by_hand():
    rows = np.array([[1, 0], [0, 2], [3, 4], [0.6, 0.8]], np.float32)
    found = nearest(rows, k=2)
    assert found.rows.tolist() == [[2, 3], [2, 3], [3, 1], [2, 1]]  # equal cosines in the order of the rows
    np.testing.assert_allclose(found.cosines, [[0.6, 0.6], [0.8, 0.8], [1, 0.8], [1, 0.8]], atol=1e-7)
    asked = nearest_to(np.array([[0, 1], [-1, 0]], np.float32), rows, k=3)
    assert asked.rows.tolist() == [[1, 2, 3], [1, 2, 3]]
    np.testing.assert_allclose(asked.cosines, [[1, 0.8, 0.8], [0, -0.6, -0.6]], atol=1e-7)


def test_fewer_others_than_are_asked_for():
    found = nearest(np.eye(2, 4, dtype=np.float32), k=3)
    assert (found.rows.tolist(), found.cosines.tolist()) == ([[1, -1, -1], [0, -1, -1]], [[0, -1, -1], [0, -1, -1]])
    assert nearest(np.ones((1, 4), np.float16), k=2).rows.tolist() == [[-1, -1]]
    assert nearest(np.ones((0, 4), np.float16), k=2).rows.shape == (0, 2)
    assert nearest_to(np.ones((1, 4), np.float16), np.ones((0, 4), np.float16), k=2).rows.tolist() == [[-1, -1]]


def test_rows_that_are_alike_are_neighbours_in_order():
    found = nearest(np.ones((40, 8), np.float16), k=3)
    assert found.rows[[0, 1, 39]].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 2]]
    assert (found.cosines == 1).all()


def test_a_row_of_zeros_is_nobodys_neighbour():
    rows = np.array([[1, 0], [0, 0], [-1, 0.1]], np.float16)
    found = nearest(rows, k=2)
    assert found.rows.tolist() == [[2, -1], [-1, -1], [0, -1]]
    assert nearest_to(np.zeros((1, 2), np.float32), rows, k=2).rows.tolist() == [[-1, -1]]
    assert (nearest(np.zeros((3, 2), np.float32), k=1).rows == -1).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_named(bad):
    rows = np.ones((5000, 4), np.float16)
    rows[4500, 2] = bad
    with pytest.raises(InputError, match="row 4500 of vectors holds what is not a finite number"):
        nearest(rows)
    with pytest.raises(InputError, match="row 4500 of queries"):
        nearest_to(rows, rows[:10])


def test_other_arrays_are_refused():
    with pytest.raises(InputError, match=r"vectors: an array of int64 with the shape \(3,\)"):
        nearest(np.arange(3))
    with pytest.raises(InputError, match=r"queries of the shape \(2, 3\), vectors of \(2, 4\)"):
        nearest_to(np.ones((2, 3), np.float32), np.ones((2, 4), np.float32))
    with pytest.raises(SettingError, match="k = 0"):
        nearest(np.ones((2, 3), np.float32), k=0)


def test_sums_of_products_of_whole_rows_are_exact():
    whole = whole_rows(clustered(50, 384, np.float32), "vectors")
    exact = whole.numbers.astype(np.int64) @ whole.numbers.T.astype(np.int64)
    assert exact.max() <= LONGEST**2 == 2**24
    np.testing.assert_array_equal(whole.take(whole.ids) @ whole.take(whole.ids).T, exact)


def recall(found, exact):
    return np.mean(
        [len(set(a) & set(b)) / len(a) for a, b in zip(found.rows.tolist(), exact.rows.tolist(), strict=True)]
    )


@pytest.mark.parametrize("block", [7, 4096])  # cells of more rows than a block holds are cut
def test_cells_find_nearly_all(monkeypatch, block):
    rows = clustered()
    exact = nearest(rows)
    monkeypatch.setattr(neighbours, "MOST_PRODUCTS", 0)
    monkeypatch.setattr(cells, "BLOCK", block)
    found = nearest(rows)
    assert recall(found, exact) > (0.95 if block > 7 else 0.6)
    assert (found.rows != np.arange(len(rows))[:, None]).all()
    assert all(len(set(of_one)) == len(of_one) for of_one in found.rows.tolist())
    assert (np.diff(found.cosines, axis=1) <= 0).all()


def test_when_all_cells_are_visited_all_is_found(monkeypatch):
    rows = clustered()
    rows[[3, 500]], rows[7] = rows[11], 0
    exact = nearest(rows)
    monkeypatch.setattr(neighbours, "MOST_PRODUCTS", 0)
    monkeypatch.setattr(cells, "VISITED", 1000)
    found = nearest(rows)
    np.testing.assert_array_equal(found.rows, exact.rows)
    np.testing.assert_array_equal(found.cosines, exact.cosines)


@pytest.mark.parametrize("rows", [np.ones((300, 8), np.float16), np.ones((1, 8), np.float16), clustered(3)])
def test_cells_of_collections_of_one_topic(monkeypatch, rows):
    exact = nearest(rows, k=3)
    monkeypatch.setattr(neighbours, "MOST_PRODUCTS", 0)
    found = nearest(rows, k=3)
    np.testing.assert_array_equal(found.cosines, exact.cosines)


def test_neighbours_of_neighbours_as_the_slow_twin_finds_them():
    whole, depth = whole_rows(clustered(60), "vectors"), 4
    exact = whole.numbers.astype(np.int64) @ whole.numbers.T.astype(np.int64)
    known = np.random.default_rng(1).permuted(np.tile(np.arange(60, dtype=np.int32), (60, 1)), axis=1)[:, : depth + 1]
    known = np.array(
        [[other for other in of_one if other != row][:depth] for row, of_one in enumerate(known)], np.int32
    )
    known[5, 2:] = -1
    best = BestRows.of(60, depth)
    for row, of_one in enumerate(known):
        of_one = of_one[of_one >= 0]
        best.offer(exact[row, of_one].astype(np.float32)[None], np.array([row]), of_one.astype(np.int64), to_both=False)
    offer_neighbours_of_neighbours(best.products, best.rows, whole.numbers, known, whole.ids)
    for row, of_one in enumerate(known):
        near = of_one[of_one >= 0]
        candidates = ({*near.tolist(), *known[near].ravel().tolist()}) - {row, -1}
        expected = sorted(-exact[row, other] for other in candidates)[:depth]
        assert (-best.products[row][: len(expected)]).tolist() == expected
