"""Weighted sums of mapped scores, worked out by hand."""

import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking
from lexigraft.search.weighted_fusion import weighted_sum

FIRST = Ranking("q", ("a", "b", "c"), (10.0, 6.0, 2.0))  # mapped: 1, 1/2, 0
SECOND = Ranking("q", ("d", "b", "a"), (0.9, 0.8, 0.4))  # mapped: 1, 4/5, 0


def test_two_rankings():
    # weight .6: a .6*1 + .4*0 = .6; b .6*.5 + .4*.8 = .62; c 0 + missing 0; d missing 0 + .4*1 = .4.
    found = weighted_sum([FIRST, SECOND], 0.6)
    assert found.doc_ids == ("b", "a", "d", "c")
    assert found.scores == pytest.approx((0.62, 0.6, 0.4, 0.0), abs=1e-12)
    assert weighted_sum([FIRST, SECOND], 0.6, depth=2).doc_ids == ("b", "a")


def test_ties_by_id():
    # weight .5: a .5, d .5; b .25 + .4 = .65; c 0.
    assert weighted_sum([FIRST, SECOND], 0.5).doc_ids == ("b", "a", "d", "c")


@pytest.mark.parametrize(("weight", "alone"), [(1.0, FIRST), (0.0, SECOND)])
def test_all_of_the_weight_is_one_of_the_two_as_it_is(weight, alone):
    few = Ranking("q", ("z", "y"), (3.0, 3.0))  # a tie that neither ids nor the other ranking may break
    assert weighted_sum([FIRST, SECOND], weight).doc_ids == alone.doc_ids
    assert weighted_sum([few, SECOND], 1.0).doc_ids == ("z", "y")


def test_candidates_that_score_alike_have_1_and_an_empty_ranking_adds_nothing():
    alike, nothing = Ranking("q", ("b", "e"), (2.0, 2.0)), Ranking("q", (), ())
    # weight .5: a .5, b .5*.5 + .5 = .75, c 0, e .5.
    assert weighted_sum([FIRST, alike], 0.5).doc_ids == ("b", "a", "e", "c")
    assert weighted_sum([FIRST, nothing], 0.3).doc_ids == ("a", "b", "c")


def test_what_is_not_allowed():
    with pytest.raises(SettingError, match=r"weight = 1\.5"):
        weighted_sum([FIRST, SECOND], 1.5)
    with pytest.raises(SettingError, match="is of two"):
        weighted_sum([FIRST], 0.5)
    with pytest.raises(InputError, match="twice"):
        weighted_sum([Ranking("q", ("a", "a"), (2.0, 1.0)), SECOND], 0.5)
