"""Pruning, counting and storing against slow, obvious twins."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.arrays import StringTable, write_strings
from lexigraft.vectors.lexical import count_rows
from lexigraft.vectors.prune import prune, prune_row
from lexigraft.vectors.store import row_ranges
from tests.conftest import sparse_matrix

ROWS = st.lists(st.dictionaries(st.integers(0, 20), st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=10), max_size=8)


def as_dicts(matrix):
    return [dict(zip(*(array.tolist() for array in matrix.row(row)), strict=True)) for row in range(matrix.n_rows)]


@given(ROWS, st.integers(0, 12))
def test_pruning_keeps_the_heaviest_and_never_adds(rows, keep):
    pruned = as_dicts(prune(sparse_matrix(rows, 21), keep))
    for row, kept in zip(rows, pruned, strict=True):
        heaviest = sorted(row.items(), key=lambda item: (-item[1], item[0]))[: keep or None]
        assert kept == dict(heaviest)
        assert list(kept) == sorted(kept)
    matrix = sparse_matrix(rows, 21)
    alone = [prune_row(*matrix.row(row), keep) for row in range(matrix.n_rows)]
    assert [dict(zip(terms.tolist(), weights.tolist(), strict=True)) for terms, weights in alone] == pruned


@given(ROWS, st.integers(1, 12), st.integers(1, 12))
def test_pruning_twice_is_pruning_to_the_smaller(rows, one, two):
    matrix = sparse_matrix(rows, 21)
    assert as_dicts(prune(prune(matrix, one), two)) == as_dicts(prune(matrix, min(one, two)))


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=8))
def test_counts(rows):
    tokens = np.array([token for row in rows for token in row], np.int32)
    ends, ids, counts = count_rows(tokens, np.cumsum([len(row) for row in rows], dtype=np.int64))
    start = 0
    for row, end in zip(rows, ends.tolist(), strict=True):
        assert list(zip(ids[start:end].tolist(), counts[start:end].tolist(), strict=True)) == sorted(
            Counter(row).items()
        )
        start = end


@given(st.lists(st.text(), max_size=20), st.lists(st.integers(0, 19), max_size=30))
def test_string_tables_give_back_what_they_were_given(strings, positions):
    with tempfile.TemporaryDirectory() as folder:
        write_strings(Path(folder), "s", strings)
        table = StringTable(Path(folder), "s")
        assert list(table) == strings
        wanted = [position for position in positions if position < len(strings)]
        assert table.take(np.array(wanted, np.int64)) == [strings[position] for position in wanted]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_row_ranges_cover_every_row_once(lengths, entries):
    indptr = np.cumsum([0, *lengths], dtype=np.int64)
    ranges = list(row_ranges(indptr, entries))
    assert [row for start, end in ranges for row in range(start, end)] == list(range(len(lengths)))
    assert all(indptr[end] - indptr[start] <= entries or end == start + 1 for start, end in ranges)
