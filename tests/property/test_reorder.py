"""Reordering gives a permutation that is never worse, and its kernels do what slow, obvious code does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.index import bisection
from lexigraft.index.reorder import ReorderSettings, copy_wanted, count_entries, log_gap, reorder

N_TERMS = 9
ROWS = st.lists(st.sets(st.integers(0, N_TERMS - 1), max_size=6), min_size=2, max_size=40)


def csr(rows):
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return indptr, np.array([term for row in rows for term in sorted(row)], np.int32)


def spans(rows):
    """As the kernels take the rows; they change ends and terms."""
    indptr, terms = csr(rows)
    return bisection.Rows(indptr[:-1].copy(), indptr[1:].copy(), terms)


def held(laid_out, row):
    starts, ends, terms = laid_out
    return set(terms[starts[row] : ends[row]].tolist())


def slow_log_gap(rows, order):
    logs = []
    for term in range(N_TERMS):
        latest = -1
        for position, row in enumerate(order):
            if term in rows[row]:
                logs.append(np.log2(position - latest))
                latest = position
    return sum(logs) / len(logs) if logs else 0.0


def slow_degrees(left, right):
    return np.array([[sum(term in row for row in half) for term in range(N_TERMS)] for half in (left, right)], np.int32)


def slow_cost(left, right):
    degrees = slow_degrees(left, right).astype(float)
    return -float((degrees * np.log2(degrees + 1)).sum())


@given(ROWS, st.integers(1, 5), st.integers(1, 6))
def test_always_a_permutation_and_never_worse(rows, leaf, rounds):
    settings = ReorderSettings(leaf=leaf, rounds=rounds)
    order = reorder(*csr(rows), N_TERMS, settings)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert slow_log_gap(rows, order) <= slow_log_gap(rows, range(len(rows))) + 1e-9
    assert reorder(*csr(rows), N_TERMS, settings, threads=2).tobytes() == order.tobytes()


@given(ROWS, st.randoms(use_true_random=False))
def test_log_gap(rows, random):
    order = list(range(len(rows)))
    random.shuffle(order)
    found = log_gap(*csr(rows), N_TERMS, np.array(order, np.int32))
    assert found == pytest.approx(slow_log_gap(rows, order))


@given(st.integers(2, 150), st.integers(1, 4), st.booleans(), st.randoms(use_true_random=False))
def test_two_topics_are_separated(n_each, n_terms, take_turns, random):
    topics = [0, 1] * n_each
    if not take_turns:
        random.shuffle(topics)
    rows = [{topic * n_terms + number for number in range(n_terms)} for topic in topics]
    order = reorder(*csr(rows), 2 * n_terms, ReorderSettings(leaf=2))
    assert np.count_nonzero(np.diff(np.array(topics)[order])) == 1


@given(ROWS)
def test_keys_are_the_gains_of_moves(rows):
    """The key of a document on the left is what its move to the right saves; on the right, what moving back costs."""
    middle = len(rows) // 2
    left, right = rows[:middle], rows[middle:]
    keys = keys_of(rows, middle, discount=1.0)
    for row, key in enumerate(keys):
        if row < middle:
            after = slow_cost(left[:row] + left[row + 1 :], [*right, rows[row]])
        else:
            after = slow_cost([*left, rows[row]], right[: row - middle] + right[row - middle + 1 :])
        saved = slow_cost(left, right) - after
        assert key == pytest.approx(saved if row < middle else -saved, abs=1e-4)


@given(ROWS)
def test_equal_documents_have_equal_keys_without_discount(rows):
    keys = keys_of(rows, len(rows) // 2, discount=0.0)
    for row, key in zip(rows, keys, strict=True):
        assert key == keys[rows.index(row)]


def keys_of(rows, middle, discount):
    laid_out = spans(rows)
    order, keys = np.arange(len(rows), dtype=np.int32), np.full(len(rows), np.nan, np.float32)
    gains = np.full((2, N_TERMS), np.nan, np.float32)
    degrees = np.zeros((2, N_TERMS), np.int32)
    for side, first, last in ((0, 0, middle), (1, middle, len(rows))):
        bisection.count_terms(order, first, last, laid_out, degrees[side])
    assert np.array_equal(degrees, slow_degrees(rows[:middle], rows[middle:]))
    bisection.term_gains(np.arange(N_TERMS, dtype=np.int32), degrees, bisection.slopes(len(rows)), discount, gains)
    for side, first, last in ((0, 0, middle), (1, middle, len(rows))):
        bisection.document_keys(order, first, last, laid_out, gains[side], keys)
    return keys.tolist()


@given(ROWS, st.data())
def test_exchange_moves_as_few_as_bring_the_largest_keys_to_the_right(rows, data):
    n, middle = len(rows), len(rows) // 2
    values = data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))  # few, so that ties are common
    laid_out = spans(rows)
    order = np.arange(n, dtype=np.int32)
    degrees = slow_degrees(rows[:middle], rows[middle:])
    n_exchanged = bisection.exchange(order, 0, middle, n, laid_out, degrees, np.array(values, np.float32))
    left, right = order[:middle].tolist(), order[middle:].tolist()
    assert sorted(left + right) == list(range(n))
    assert sorted(values[row] for row in right) == sorted(values)[middle:]
    assert n_exchanged == sum(row < middle for row in right)
    came_for_less = [values[row] for row in right if row < middle]
    left_for_it = [values[row] for row in left if row >= middle]
    assert not set(came_for_less) & set(left_for_it)  # equals never change places
    assert np.array_equal(degrees, slow_degrees([rows[row] for row in left], [rows[row] for row in right]))


@given(ROWS, st.data())
def test_only_shared_terms_are_kept(rows, data):
    first = data.draw(st.integers(0, len(rows) - 1))
    last = data.draw(st.integers(first + 1, len(rows)))
    laid_out = spans(rows)
    counts, shared = np.zeros(N_TERMS, np.int32), np.empty(N_TERMS, np.int32)
    order = np.arange(len(rows), dtype=np.int32)
    n_shared = bisection.keep_shared_terms(order, first, last, laid_out, counts, shared)
    inside = rows[first:last]
    expected = {term for term in range(N_TERMS) if 2 <= sum(term in row for row in inside) < len(inside)}
    assert sorted(shared[:n_shared].tolist()) == sorted(expected)
    assert not counts.any()
    for number, row in enumerate(rows):
        kept = row & expected if first <= number < last else row
        assert held(laid_out, number) == kept


@given(ROWS, st.data())
def test_a_split_stays_within_its_range_and_cleans_up(rows, data):
    first = data.draw(st.integers(0, len(rows) - 1))
    last = data.draw(st.integers(first + 1, len(rows)))
    laid_out = spans(rows)
    order, keys = np.arange(len(rows), dtype=np.int32), np.full(len(rows), -7, np.float32)
    degrees, gains = np.zeros((2, N_TERMS), np.int32), np.empty((2, N_TERMS), np.float32)
    rules = bisection.Rules(bisection.slopes(len(rows)), rounds=20, settled=0.0)
    work = bisection.Work(degrees, gains, np.empty(N_TERMS, np.int32))
    bisection.split(order, first, last, laid_out, rules, keys, work)
    assert sorted(order[first:last].tolist()) == list(range(first, last))
    outside = [row for row in range(len(rows)) if not first <= row < last]
    assert order[outside].tolist() == outside
    assert set(keys[outside].tolist()) <= {-7}
    assert all(held(laid_out, row) == rows[row] for row in outside)
    assert not degrees.any()


@given(ROWS, st.sets(st.integers(0, N_TERMS - 1)))
def test_rows_are_copied_without_unwanted_terms(rows, wanted):
    indptr, term_ids = csr(rows)
    frequencies = np.zeros(N_TERMS, np.int64)
    count_entries(term_ids, frequencies)
    assert frequencies.tolist() == [sum(term in row for row in rows) for term in range(N_TERMS)]
    chosen = np.isin(np.arange(N_TERMS), list(wanted))
    starts, ends = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    laid_out = bisection.Rows(starts, ends, np.empty(sum(len(row & wanted) for row in rows), np.int32))
    copy_wanted(indptr, term_ids, chosen, laid_out)
    assert [held(laid_out, row) for row in range(len(rows))] == [row & wanted for row in rows]


@given(st.integers(1, 200))
def test_a_nudge_is_small_and_the_same_on_both_sides(n_terms):
    gains = np.zeros((2, n_terms), np.float32)
    bisection.nudge(np.arange(n_terms, dtype=np.int32), gains)
    assert np.array_equal(gains[0], gains[1])
    assert np.abs(gains).max() <= bisection.NUDGE
    assert len(set(gains[0].tolist())) == n_terms
