"""Reciprocal rank fusion, worked out by hand."""

import pytest

from lexigraft.core.types import Ranking
from lexigraft.search.fusion import fuse, fuse_runs


def ranking(*doc_ids, query="q"):
    return Ranking(query, doc_ids, tuple(float(-place) for place in range(len(doc_ids))))


def test_two_rankings_of_three():
    # k = 60. a: 1/61 + 1/63 = 124/3843; b: 1/62 + 1/61 = 123/3782; c: 1/63; d: 1/62.
    # 123/3782 = .032522, 124/3843 = .032266, 1/62 = .016129, 1/63 = .015873.
    found = fuse([ranking("a", "b", "c"), ranking("b", "d", "a")])
    assert found.doc_ids == ("b", "a", "d", "c")
    assert found.scores == pytest.approx((123 / 3782, 124 / 3843, 1 / 62, 1 / 63), rel=1e-15)


def test_another_k_and_weights():
    # k = 1, weights 1 and 3. a: 1/2 + 3/4 = 5/4; b: 1/3 + 3/2 = 11/6; c: 1/4; d: 3/3 = 1.
    found = fuse([ranking("a", "b", "c"), ranking("b", "d", "a")], k=1, weights=[1, 3], depth=3)
    assert found.doc_ids == ("b", "a", "d")
    assert found.scores == pytest.approx((11 / 6, 5 / 4, 1.0), rel=1e-15)


def test_ties_by_id_whatever_the_order_of_the_sums():
    # Places 1, 2, 3 for one and 3, 1, 2, or 2, 3, 1, for the others: all three have the same sum.
    found = fuse([ranking("z", "y", "x"), ranking("y", "x", "z"), ranking("x", "z", "y")])
    assert found.doc_ids == ("x", "y", "z")
    assert len(set(found.scores)) == 1


def test_a_query_that_one_run_lacks():
    runs = [[ranking("a", query="q1")], [ranking("b", query="q2"), ranking("c", "a", query="q1")]]
    first, second = fuse_runs(runs)
    assert (first.query_id, first.doc_ids) == ("q1", ("a", "c"))
    assert first.scores == pytest.approx((1 / 61 + 1 / 62, 1 / 61), rel=1e-15)
    assert (second.query_id, second.doc_ids, second.scores) == ("q2", ("b",), (1 / 61,))
