"""Queries by a table, worked out by hand: rows added up, by the search's side and by the one that learns."""

import numpy as np
import pytest
import torch

from lexigraft.model.head import Bags
from lexigraft.model.query_table import QueryTable
from lexigraft.vocab.lookup import (
    SMALLEST_WEIGHT,
    TableRows,
    heaviest_rows,
    look_up,
    own_terms_table,
    read_table,
    write_table,
)

# Term 0 stands for itself and brings 2, term 1 brings 0 and 2, term 2 stands for itself, term 3 for nothing at all.
TABLE = TableRows(
    np.array([0, 2, 5, 6, 6]), np.array([0, 2, 0, 1, 2, 2], np.int32),
    np.array([1.0, 0.5, 0.25, 2.0, 0.125, 4.0], np.float32),
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([], {}),
        ([3], {}),
        ([0], {0: 1.0, 2: 0.5}),
        ([0, 1], {0: 1.25, 1: 2.0, 2: 0.625}),
        ([0, 1, 2, 3], {0: 1.25, 1: 2.0, 2: 4.625}),
    ],
)
def test_rows_are_added_up(asked, found):
    terms, weights = look_up(*TABLE, np.array(asked, np.int32))
    assert (terms.dtype, weights.dtype) == (np.int32, np.float32)
    assert (terms.tolist(), weights.tolist()) == (list(found), list(found.values()))


def test_who_brought_a_term():
    """Term 2: .5 of row 0, .125 of row 1, 4 of its own."""
    assert heaviest_rows(TABLE, np.array([0, 1], np.int32)) == {0: 0, 1: 1, 2: 0}
    assert heaviest_rows(TABLE, np.array([0, 1, 2, 3], np.int32)) == {0: 0, 1: 1, 2: 2}
    assert heaviest_rows(TABLE, np.zeros(0, np.int32)) == {}


def test_in_the_beginning_a_term_is_itself_in_proportion_to_its_idf():
    rows = own_terms_table(np.array([1.0, 3.0, 2.0, 0.0]))  # 1.5 on the mean
    assert rows.n_terms == 4
    assert (rows.indptr.tolist(), rows.terms.tolist()) == ([0, 1, 2, 3, 4], [0, 1, 2, 3])
    expected = np.array([1 / 1.5, 3 / 1.5, 2 / 1.5, SMALLEST_WEIGHT], np.float32)  # a logarithm needs more than 0
    assert rows.weights.tolist() == expected.tolist()


def test_a_stored_table_is_the_same(tmp_path):
    write_table(tmp_path, TABLE)
    for stored, given in zip(read_table(tmp_path), TABLE, strict=True):
        assert (stored.tolist(), stored.dtype) == (given.tolist(), given.dtype)


def test_what_is_learned_by_each_entry():
    """An entry's weight is exp(l), so what a query's term gains by l is that weight, wherever the row is asked."""
    table = QueryTable(TABLE)
    bags = Bags(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0]), torch.ones(3))
    found = table(bags, 3)
    expected = [[1.25, 2.0, 0.625, 0.0], [1.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0]]
    torch.testing.assert_close(found, torch.tensor(expected))
    (found * torch.tensor([[1.0, 10.0, 100.0, 1000.0]] * 3)).sum().backward()
    # Row 0 is asked twice: 2 * 1 * 1 and 2 * 0.5 * 100; row 1 once; row 2 never.
    torch.testing.assert_close(table.log_weights.grad, torch.tensor([2.0, 100.0, 0.25, 20.0, 12.5, 0.0]))
