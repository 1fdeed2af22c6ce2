"""Borda counts worked out by hand."""

import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking
from lexigraft.search.borda import count_borda, count_borda_runs


def ranking(*doc_ids, query="q"):
    return Ranking(query, doc_ids, tuple(float(len(doc_ids) - place) for place in range(len(doc_ids))))


def test_the_usual_depth_gives_fifty_points_to_the_first():
    # a: 50 + 49, b: 49 + 48, c: 50 alone, d: 48 alone
    found = count_borda([ranking("a", "b", "d"), ranking("c", "a", "b")])
    assert found == Ranking("q", ("a", "b", "c", "d"), (99.0, 97.0, 50.0, 48.0))


def test_below_the_depth_there_are_no_points():
    # depth 2: places give 2 and 1. a: 2, b: 1 + 2, c: 1 of the second alone; d is third and gets none.
    found = count_borda([ranking("a", "b", "d"), ranking("b", "c", "d")], depth=2)
    assert found == Ranking("q", ("b", "a", "c"), (3.0, 2.0, 1.0))


def test_ties_by_id_and_only_the_first():
    found = count_borda([ranking("z", "y", "x"), ranking("x", "y", "z")], keep=2)
    assert found == Ranking("q", ("x", "y"), (98.0, 98.0))


def test_a_query_that_one_run_lacks():
    runs = [[ranking("a", query="q1")], [ranking("b", query="q2"), ranking("c", "a", query="q1")]]
    assert count_borda_runs(runs) == [Ranking("q1", ("a", "c"), (99.0, 50.0)), Ranking("q2", ("b",), (50.0,))]


def test_bad_input():
    with pytest.raises(InputError, match="document 'a' was ranked for query 'q' twice"):
        count_borda([ranking("a", "a")])
    with pytest.raises(SettingError, match="borda depth = 0 is not allowed: 1 or more"):
        count_borda([ranking("a")], depth=0)
    with pytest.raises(SettingError, match="depth = 0 is not allowed"):
        count_borda([ranking("a")], keep=0)
