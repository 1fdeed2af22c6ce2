"""Measures by rows where rows are passages: a document counts once, by its best passage."""

from dataclasses import replace

import pytest

from lexigraft.measure.measures import measure
from lexigraft.measure.ranks import RANK_MEASURES, RankJudge
from lexigraft.search.many import search_many
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix

PASSAGES = [{0: 1.0}, {0: 3.0, 1: 1.0}, {1: 2.0}, {0: 2.0}, {2: 1.0}]
NAMES = ["a#0", "a#1", "b#0", "c#0", "c#1"]


def test_passages_of_a_document_share_its_judgement(tmp_path):
    whole = index_of(sparse_matrix(PASSAGES, 3, NAMES), tmp_path / "index")
    index = replace(whole, meta=replace(whole.meta, passages=True))
    searcher = Searcher(index)
    queries = sparse_matrix([{0: 1.0}, {1: 1.0, 2: 0.5}, {}], 3, ["q0", "q1", "q2"])
    judged = {"q0": {"c": 2, "a": 0}, "q1": {"b": 1, "c": 1, "absent": 3}, "q2": {"a": 1}}
    values = RankJudge(index, queries.row_ids, judged).measure(search_many(searcher, queries, 1000))
    # q0 finds a (3) and c (2): the relevant one is second. q2 has no term, and finds nothing.
    assert values[0, :2].tolist() == [0.5, 1.0]
    assert not values[2].any()
    for column, item in enumerate(measure(searcher.search_batch(queries, 1000), judged, RANK_MEASURES)):
        assert values[:, column] == pytest.approx([item.per_query[query_id] for query_id in queries.row_ids])
