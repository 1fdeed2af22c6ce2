"""A Borda count equals its definition, and does not mind in which order runs are given."""

from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.types import Ranking
from lexigraft.search.borda import count_borda

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4)


def slowly(rankings, depth):
    """The slow, obvious twin: (-points, document), in order."""
    points = {doc_id: 0 for doc_ids in rankings for doc_id in doc_ids}
    for doc_id in points:
        for doc_ids in rankings:
            if doc_id in doc_ids:
                points[doc_id] += max(0, depth - doc_ids.index(doc_id))
    return sorted((-count, doc_id) for doc_id, count in points.items() if count)


@given(RANKINGS, st.integers(1, 9), st.integers(1, 9))
def test_points_are_added_up(rankings, depth, keep):
    given_ = [Ranking("q", tuple(doc_ids), tuple([1.0] * len(doc_ids))) for doc_ids in rankings]
    found = count_borda(given_, depth, keep)
    assert [(-score, doc_id) for score, doc_id in zip(found.scores, found.doc_ids, strict=True)] == slowly(
        rankings, depth
    )[:keep]
    assert count_borda(given_[::-1], depth, keep) == found
