"""A hybrid whose weight is all one system's asks that one alone."""

import pytest

from lexigraft.core.types import Ranking
from lexigraft.search.hybrid import RRF, WEIGHTED, Fusion, HybridTextSearch


class Part:
    """A text search that counts how often it is asked; its ranking of every query is `doc_ids`."""

    n_documents, passages = 3, False

    def __init__(self, *doc_ids):
        self.doc_ids, self.asked = doc_ids, 0

    def encode_all(self, texts):
        self.asked += 1
        return list(texts)

    def search_all(self, queries, k, query_ids):
        self.asked += 1
        scores = tuple(float(3 - place) for place in range(len(self.doc_ids)))
        return [Ranking(query_id, self.doc_ids[:k], scores[:k]) for query_id in query_ids]

    def holds(self, doc_id):
        return doc_id in "abc"

    def id_at(self, row):
        return "abc"[row]


@pytest.mark.parametrize(
    ("fusion", "asked", "best"),
    [
        (Fusion(WEIGHTED, 0.0), (0, 2), ("c", "b", "a")),
        (Fusion(WEIGHTED, 1.0), (2, 0), ("a", "b", "c")),
        (Fusion(WEIGHTED, 0.25), (2, 2), ("c", "b", "a")),
        (Fusion(RRF, 0.0), (2, 2), ("a", "c", "b")),  # a weight says nothing beside reciprocal ranks
    ],
)
def test_a_part_without_a_weight_is_not_asked(fusion, asked, best):
    parts = Part("a", "b", "c"), Part("c", "b", "a")
    hybrid = HybridTextSearch(("one", "other"), parts, fusion, depth=3)
    found = hybrid.search_all(hybrid.encode_all(["text", "more"]), 3, ["q1", "q2"])
    assert [ranking.doc_ids for ranking in found] == [best, best]
    assert [ranking.query_id for ranking in found] == ["q1", "q2"]
    assert tuple(part.asked for part in parts) == asked
