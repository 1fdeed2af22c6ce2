"""The five studies: all 25 claims, contrasts of arms and points that exist, settings that are allowed."""

from pathlib import Path

import pytest

from lexigraft.core.config import load_settings
from lexigraft.study.design import BM25, MRR
from lexigraft.study.evidence import POINT_MEASURES
from lexigraft.study.looks import ALWAYS, LOOKS
from lexigraft.study.papers import STUDIES
from lexigraft.study.regime import GPU, SCALES, lengths_of, scale_of
from lexigraft.study.work import Times, Work
from tests.unit.study.trainings import point

WORKS = [
    pytest.param(study, arm, scale, id=f"{study.name}-{arm.name}-{scale}")
    for study in STUDIES.values()
    for arm in study.arms
    for scale in SCALES
]


def test_all_claims_are_there():
    wanted = [f"{letter}{number}" for letter in "VPRWC" for number in range(1, 6)]
    assert [claim.id for study in STUDIES.values() for claim in study.claims] == wanted
    assert all(claim.published for study in STUDIES.values() for claim in study.claims)
    assert all(claim.contrasts or claim.decide for study in STUDIES.values() for claim in study.claims)


@pytest.mark.parametrize("name", STUDIES)
def test_contrasts_are_of_arms_points_and_values_that_are_measured(name):
    study = STUDIES[name]
    arms = {arm.name: arm for arm in study.arms}
    assert len(arms) == len(study.arms)
    for claim in study.claims:
        assert set(claim.needs) <= set(arms)
        for contrast in claim.contrasts:
            for side in (contrast.a, contrast.b):
                assert side.at in study.points
                assert side.arm == BM25 or set(side.weights) <= set(arms[side.arm].weights)
                look = contrast.measure.partition(": ")[0]
                assert contrast.measure in (MRR, *POINT_MEASURES) or look in (*ALWAYS, *arms[side.arm].looks)
    assert all(set(arm.looks) <= set(LOOKS) for arm in study.arms)
    looked_at = {look for arm in study.arms for look in (*ALWAYS, *arm.looks)}
    assert {shown.partition(": ")[0] for shown in study.shown} <= looked_at


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    from tests.topics import topics_of, write_topics

    return write_topics(tmp_path_factory.mktemp("data") / "topics", topics_of("kur", "mel"), 20, 6)


@pytest.mark.parametrize(("study", "arm", "scale"), WORKS)
def test_the_settings_of_every_arm_are_allowed(study, arm, scale, data):
    work = Work(study, scale_of(scale), str(data), arm, 1, Path("out"), "scratch", "texts.txt", "somewhere")
    for training in work.trainings():
        settings = load_settings(None, work.settings(training))
        assert settings.run.seed == 1
        masked = bool(settings.finetune.qk or settings.finetune.dk)
        assert masked == ("mask" in arm.name or "free" in arm.name)  # else nothing but the regulariser makes it sparse
        assert settings.finetune.pressed == "whole"
        if training.weight is not None:
            section, _, key = study.swept.partition(".")
            assert getattr(getattr(settings, section), key) == training.weight


def test_steps_are_multiplied_in_settings():
    assert "{steps:4.83} {steps:1}".format(steps=Times(300)) == "1449 300"


def test_nine_texts_of_ten_are_read_whole(data):
    assert lengths_of(str(data)) == (8, 8)


def test_batches_are_as_large_as_their_texts_allow():
    from lexigraft.study.regime import Lengths

    scale = SCALES[GPU]
    assert [scale.batch(Lengths(*of)) for of in ((32, 256), (56, 36), (24, 48), (8, 8))] == [128, 256, 512, 1024]


def test_an_arm_that_reads_general_texts_says_so():
    assert [arm.name for arm in STUDIES["wackiness"].arms if arm.needs_general] == ["large"]


def test_a_point_without_queries_is_worth_nothing():
    assert point([]).mrr == 0.0
