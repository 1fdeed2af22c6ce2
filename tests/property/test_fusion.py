"""Fusion equals its definition in exact fractions, and does not mind in which order runs are given."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.types import Ranking
from lexigraft.search.fusion import fuse
from lexigraft.search.hybrid import RRF, WEIGHTED, Fusion

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4)


def slowly(rankings, k, weights):
    """The slow, obvious twin."""
    scores = {}
    for doc_ids, weight in zip(rankings, weights, strict=True):
        for place, doc_id in enumerate(doc_ids, 1):
            scores[doc_id] = scores.get(doc_id, Fraction(0)) + Fraction(weight) / (k + place)
    return sorted(((-score, doc_id) for doc_id, score in scores.items() if score > 0))


@given(RANKINGS, st.integers(0, 100), st.data())
def test_fusion_is_the_sum_of_reciprocal_ranks(rankings, k, data):
    weights = data.draw(
        st.lists(st.integers(0, 3), min_size=len(rankings), max_size=len(rankings)).filter(any), label="weights"
    )
    depth = data.draw(st.integers(1, 9), label="depth")
    expected = slowly(rankings, k, weights)[:depth]
    given_ = [Ranking("q", tuple(doc_ids), tuple([1.0] * len(doc_ids))) for doc_ids in rankings]
    found = fuse(given_, k, weights, depth)
    exact = {doc_id: -negative for negative, doc_id in slowly(rankings, k, weights)}
    assert len(found.doc_ids) == len(expected)
    for score, doc_id in zip(found.scores, found.doc_ids, strict=True):
        assert abs(score - exact[doc_id]) < 1e-12
    for one, other in pairwise(found.doc_ids):
        assert exact[one] > exact[other] - Fraction(1, 10**12)
    for left_out in exact.keys() - set(found.doc_ids):
        assert exact[left_out] < exact[found.doc_ids[-1]] + Fraction(1, 10**12)
    assert fuse(given_[::-1], k, weights[::-1], depth) == found


SCORED = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-5, 5)), unique_by=lambda one: one[0])
FUSIONS = st.one_of(st.just(Fusion(RRF)), st.floats(0, 1).map(lambda weight: Fusion(WEIGHTED, weight)))


@given(st.lists(SCORED, min_size=2, max_size=2), FUSIONS)
def test_what_each_ranking_adds_is_the_fused_score(scored, fusion):
    ordered = [sorted(one, key=lambda found: -found[1]) for one in scored]
    rankings = [Ranking("q", tuple(d for d, _ in one), tuple(s for _, s in one)) for one in ordered]
    asked = [one if is_asked else Ranking("q", (), ()) for one, is_asked in zip(rankings, fusion.asked, strict=True)]
    fused = fusion.fuse(asked)
    for doc_id, score in zip(fused.doc_ids, fused.scores, strict=True):
        assert sum(fusion.amounts(asked, doc_id)) == score
    assert fusion.amounts(asked, "z") == [0, 0]
