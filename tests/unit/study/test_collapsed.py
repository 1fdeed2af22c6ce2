"""Trainings that collapsed leave no looks: claims that look at them say what is lacking, and none of them breaks."""

import pytest

from lexigraft.study.evidence import Evidence
from lexigraft.study.papers import STUDIES
from lexigraft.study.papers.rescaling import _rank_correlation
from tests.unit.study.trainings import finished, point

LOOKS = {
    "wackiness": {"W-AUC": 0.9, "wackiest": ["a", "b"], "in-domain c": 0.1, "out-of-domain d": 0.1},
    "rm3": {"W-AUC": 0.8}, "head": {"mean_norm": 1.0, "anisotropy": 0.1},
}  # fmt: skip
DECIDERS = [
    pytest.param(study, claim, id=claim.id)
    for study in STUDIES.values() for claim in study.claims if claim.decide is not None
]  # fmt: skip


def trained(study, collapsed=(), without_looks=()):
    return [
        finished(arm.name, seed, {} if arm.name in collapsed else {"whole": point([1])}, weight=weight,
                 collection=collection, looks={} if arm.name in (*collapsed, *without_looks) else LOOKS,
                 collapsed="dead" if arm.name in collapsed else "")
        for arm in study.arms for weight in arm.weights or (None,) for seed in range(3) for collection in "cd"
    ]  # fmt: skip


@pytest.mark.parametrize(("study", "claim"), DECIDERS)
def test_no_collapse_and_no_missing_look_breaks_a_decision(study, claim):
    weights = {arm.name: arm.weights or (None,) for arm in study.arms}
    for arm in study.arms:
        for options in ({"collapsed": (arm.name,)}, {"without_looks": (arm.name,)}):
            assert claim.decide(Evidence(trained(study, **options), weights)).verdict
    everything = tuple(arm.name for arm in study.arms)
    looked = claim.decide(Evidence(trained(study, without_looks=everything), weights)).verdict
    assert looked == "not decided here" or claim.id == "P5"  # which looks at MRR@10 alone


def test_equal_values_share_a_rank():
    assert _rank_correlation((0, 0, 0, 0.3, 0.4, 0.5), (6, 5, 4, 3, 2, 1)) == pytest.approx(-0.9411, abs=1e-4)
    assert _rank_correlation((1, 2, 3, 4), (4, 3, 2, 1)) == pytest.approx(-1)
    assert _rank_correlation((1, 1, 1), (1, 2, 3)) == 0
