"""The rule of decision, on made-up trainings: what is told apart, what is level, and what never decides."""

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from lexigraft.study.design import ABOVE, BELOW, BM25, LEVEL, NOT_BELOW, Claim, Contrast, Side, Study
from lexigraft.study.evidence import Evidence
from lexigraft.study.verdict import DOES_NOT, HOLDS, OPEN, UNTOLD, _reach, decide, outcome
from tests.unit.study.trainings import N_QUERIES, finished, point

AB = Contrast(Side("a"), ABOVE, Side("b"))


def study(*contrasts, decide=None):
    claim = Claim("X1", "a beats b", "theirs", contrasts, decide)
    return Study("s", "S", "P", "w", (), (), (claim,), ())


def ranks(share, seed=0):
    """The first document is right for `share` of the queries, none for the others."""
    found = (np.random.default_rng(seed).random(N_QUERIES) < share).astype(int)
    return found.tolist()


def trainings(arm, shares, **options):
    return [finished(arm, seed, {"whole": point(ranks(share, seed), **options)}) for seed, share in enumerate(shares)]


def verdict(one, evidence, decides=True):
    return decide(one.claims[0], evidence, one, decides).verdict


def test_three_seeds_far_apart_decide_either_way():
    evidence = Evidence(trainings("a", [0.9] * 3) + trainings("b", [0.4] * 3))
    assert verdict(study(AB), evidence) == HOLDS
    assert verdict(study(AB._replace(a=AB.b, b=AB.a)), evidence) == DOES_NOT
    assert verdict(study(AB._replace(expect=BELOW)), evidence) == DOES_NOT
    assert verdict(study(AB._replace(expect=NOT_BELOW)), evidence) == HOLDS


def test_one_or_two_seeds_never_decide():
    for n in (1, 2):
        evidence = Evidence(trainings("a", [0.9] * n) + trainings("b", [0.4] * 3))
        assert verdict(study(AB), evidence) == OPEN
        told = outcome(evidence, "c", AB, 1)
        assert (told.found, told.lacks) == (UNTOLD, f"{3 - n} of 3 seeds of a on c")


def test_a_scale_that_does_not_decide_only_says_what_it_would():
    evidence = Evidence(trainings("a", [0.9] * 3) + trainings("b", [0.4] * 3))
    one = study(AB)
    told = decide(one.claims[0], evidence, one, decides=False)
    assert (told.verdict, told.why) == (OPEN, "this scale never decides; it would say: holds")


def test_a_difference_below_the_spread_of_seeds_decides_nothing():
    """Far apart in the mean, but one seed of a lies as low as b."""
    evidence = Evidence(trainings("a", [0.95, 0.95, 0.3]) + trainings("b", [0.45] * 3))
    told = outcome(evidence, "c", AB, 1)
    assert told.p < 0.001
    assert told.a - told.b < told.spread
    assert told.found == UNTOLD


def test_p_is_that_of_a_paired_test_over_seed_means_times_the_number_of_contrasts():
    ours, theirs = trainings("a", [0.6] * 3), trainings("b", [0.5] * 3)
    mean = [np.mean([one.points["whole"].reciprocal_ranks for one in some], axis=0) for some in (ours, theirs)]
    p = ttest_rel(*mean).pvalue
    assert outcome(Evidence(ours + theirs), "c", AB, 1).p == pytest.approx(p)
    assert outcome(Evidence(ours + theirs), "c", AB, 3).p == pytest.approx(min(1, 3 * p))


def test_equal_rankings_are_level_and_close_ones_are_not_told_apart():
    same = Evidence(trainings("a", [0.5] * 3) + trainings("b", [0.5] * 3))
    assert outcome(same, "c", AB, 1).found == LEVEL
    assert verdict(study(AB), same) == DOES_NOT  # a is not above b
    assert verdict(study(AB._replace(expect=LEVEL)), same) == HOLDS
    close = Evidence(trainings("a", [0.5] * 3) + trainings("b", [0.53] * 3))
    assert outcome(close, "c", AB, 1).found == UNTOLD


def test_a_claim_must_come_out_on_every_collection():
    there = [finished("a", s, {"whole": point(ranks(0.9, s))}, collection="d") for s in range(3)]
    there += [finished("b", s, {"whole": point(ranks(0.4, s))}, collection="d") for s in range(3)]
    here = trainings("a", [0.4] * 3) + trainings("b", [0.9] * 3)
    one = study(AB)
    told = decide(one.claims[0], Evidence(here + there), one, True)
    assert told.verdict == DOES_NOT
    assert told.why.startswith("c: a, whole is below b, whole by MRR@10 (")
    assert [of.collection for of in told.outcomes if of.is_met] == ["d"]


def test_other_values_are_told_apart_where_no_two_seeds_overlap():
    cost = AB._replace(measure="FLOPS")
    dear = trainings("a", [0.5] * 3, flops=2.0)
    assert outcome(Evidence(dear + trainings("b", [0.5] * 3, flops=1.0)), "c", cost, 1).found == ABOVE
    assert outcome(Evidence(dear + trainings("b", [0.5] * 3, flops=3.0)), "c", cost, 1).found == BELOW


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        ((2.0, 2.0, 2.0), (2.0, 2.0, 2.0), LEVEL),
        ((2.00, 2.02, 2.04), (2.01, 2.03, 2.05), LEVEL),
        # The interval, .0085 to .0315, lies within a tenth but not about 0: a difference there is.
        ((2.03, 2.04, 2.05, 2.04, 2.03, 2.05), (2.02, 2.01, 2.03, 2.02, 2.01, 2.03), UNTOLD),
        ((2.0, 2.2, 2.4), (2.1, 2.3, 2.5), UNTOLD),  # as close in the mean, but who knows
        ((2.0, 2.0, 2.4), (2.3, 2.3, 2.3), UNTOLD),
    ],
)
def test_values_whose_seeds_overlap_are_level_where_their_means_surely_are_within_a_tenth(ours, theirs, found):
    evidence = Evidence(looking("a", ours) + looking("b", theirs))
    assert outcome(evidence, "c", AB._replace(measure="l: v"), 1).found == found


def test_how_far_apart_means_may_be_is_welchs_interval():
    """By hand: means 2 and 4, variances 1 and 4 over three seeds, so the error is sqrt(5/3), the degrees of freedom
    (5/3)**2 / ((1/3)**2 / 2 + (4/3)**2 / 2) = 50/17, and t of those at 5 % comes from tables between 4.30 and 3.18."""
    reach = _reach([1, 2, 3], [2, 4, 6])
    assert 3.18 * (5 / 3) ** 0.5 < reach < 4.30 * (5 / 3) ** 0.5
    assert reach == pytest.approx(ttest_ind([1, 2, 3], [2, 4, 6], equal_var=False).confidence_interval(0.95).high + 2)


def test_w_auc_is_level_within_a_hundredth():
    """A tenth of .97 would make all models level."""
    auc = AB._replace(measure="wackiness: W-AUC")
    for far, found in ((0.001, LEVEL), (0.004, UNTOLD)):
        some = [
            finished(arm, seed, {"whole": point([1])}, looks={"wackiness": {"W-AUC": 0.97 + far * step}})
            for arm, steps in (("a", (0, 2, 4)), ("b", (1, 3, 5)))
            for seed, step in enumerate(steps)
        ]
        assert outcome(Evidence(some), "c", auc, 1).found == found


def looking(arm, values):
    return [finished(arm, seed, {"whole": point([1])}, looks={"l": {"v": value}}) for seed, value in enumerate(values)]


def test_a_collection_that_is_half_trained_leaves_what_another_decided():
    here = trainings("a", [0.9] * 3) + trainings("b", [0.4] * 3)
    there = [finished("a", s, {"whole": point(ranks(0.9, s))}, collection="d") for s in range(3)]
    one = study(AB)
    told = decide(one.claims[0], Evidence(here + there), one, True)
    assert (told.verdict, told.why.endswith("; not all trained on d")) == (HOLDS, True)
    there += [finished("b", s, {"whole": point(ranks(0.95, s))}, collection="d") for s in range(3)]
    assert verdict(one, Evidence(here + there)) != HOLDS


def test_a_look_is_compared_by_its_name():
    some = [finished(arm, s, {"whole": point([1])}, looks={"l": {"v": v + s}}) for arm, v in (("a", 9), ("b", 1))
            for s in range(3)]  # fmt: skip
    assert outcome(Evidence(some), "c", AB._replace(measure="l: v"), 1).found == ABOVE


def test_bm25_needs_no_seeds():
    high = point([1] * N_QUERIES)
    some = [finished("a", s, {"whole": point(ranks(0.3, s))}, bm25=high) for s in range(3)]
    told = outcome(Evidence(some), "c", Contrast(Side("a"), ABOVE, Side(BM25)), 1)
    assert (told.found, told.b) == (BELOW, 1.0)


def test_the_weight_is_chosen_on_held_out_queries_seed_by_seed():
    some = [
        finished("a", seed, {"whole": point([rank] * N_QUERIES, held_out=worth)}, weight=weight)
        for seed, chosen in ((0, 1.0), (1, 2.0))
        for weight, rank in ((1.0, 1), (2.0, 4))
        for worth in (0.9 if weight == chosen else 0.1,)
    ]
    evidence = Evidence(some)
    assert evidence.values("c", Side("a"), "MRR@10") == {0: 1.0, 1: 0.25}
    assert evidence.values("c", Side("a", "whole", (2.0,)), "MRR@10") == {0: 0.25, 1: 0.25}


def test_a_training_that_collapsed_found_nothing():
    some = trainings("b", [0.9] * 3) + [finished("a", seed, {}, collapsed="dead") for seed in range(3)]
    told = outcome(Evidence(some), "c", AB, 1)
    assert (told.found, told.a) == (BELOW, 0.0)


def test_a_seed_counts_where_all_weights_of_its_arm_are_trained():
    some = [finished("a", seed, {"whole": point([1])}, weight=weight) for seed in range(3) for weight in (1.0, 2.0)]
    assert Evidence(some, {"a": (1.0, 2.0)}).seeds("c", "a") == [0, 1, 2]
    assert Evidence(some[:-1], {"a": (1.0, 2.0)}).seeds("c", "a") == [0, 1]
    assert Evidence(some[:-1], {"a": (1.0, 2.0)}).values("c", Side("a"), "MRR@10").keys() == {0, 1}
