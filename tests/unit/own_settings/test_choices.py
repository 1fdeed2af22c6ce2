"""The other choices: what wins, what is kept, how much memory allows, and which learning rate."""

from pathlib import Path

import pytest
import torch

from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import FinetuneSettings, ModelSettings
from lexigraft.own_settings.batch import usual_batch
from lexigraft.own_settings.choice import Choice, settings_of
from lexigraft.own_settings.chosen import digest_of
from lexigraft.own_settings.given_time import GivenTime
from lexigraft.own_settings.kept import for_report, keep, kept
from lexigraft.own_settings.memory import chunk_that_fits, free_memory
from lexigraft.own_settings.rate import best_rate
from lexigraft.own_settings.trial import Trials, seconds_of
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.report import choice_lines

STEPS = Choice("steps", {"finetune.steps": 9, "pretrain.steps": 3}, "it fits")


def test_what_is_set_by_hand_wins():
    mine = STEPS.without(frozenset({"finetune.steps", "model.layers"}))
    assert mine.settings == {"pretrain.steps": 3}
    assert mine.why == "it fits; set by hand and kept: finetune.steps"
    assert STEPS.without(frozenset({"model.layers"})) is STEPS
    assert settings_of([STEPS, Choice("x", {"pretrain.steps": 4}, "")]) == {"finetune.steps": 9, "pretrain.steps": 4}


def test_choices_are_kept_for_the_same_inputs_alone(tmp_path):
    folder, made_of = RunFolder(tmp_path / "run"), {"minutes": 5.0, "data": {"corpus": "a"}}
    assert kept(folder, made_of) is None
    keep(folder, made_of, [STEPS])
    assert kept(folder, made_of) == [STEPS]
    assert kept(folder, {**made_of, "minutes": 6.0}) is None
    assert kept(folder, {**made_of, "data": {"corpus": "b"}}) is None
    assert choice_lines(for_report(folder, GivenTime(5), [Choice("left out", {}, "dense: why")])) == [
        "chosen by the run itself, for 5 minutes:",
        "- left out: dense: why",
        "- steps: finetune.steps = 9, pretrain.steps = 3: it fits",
    ]
    folder.choices.write_text("{")
    assert kept(folder, made_of) is None and for_report(folder, GivenTime(5)) == {} and choice_lines({}) == []


def test_a_pass_has_eight_steps_where_there_are_enough_pairs():
    assert usual_batch(50_000, on_gpu=True) == (512, "the usual on a GPU")
    assert usual_batch(1_024, on_gpu=False) == (128, "the usual on a CPU")
    assert usual_batch(3_000, on_gpu=True)[0] == 256  # 375 would do
    assert usual_batch(1_023, on_gpu=False)[0] == 64
    assert usual_batch(10, on_gpu=False)[0] == 32


def test_a_batch_is_cut_where_memory_is_short():
    # 128 pairs of 100 subwords, 2 layers of width 100: 2 MB a pair, 256 MB; the vectors are 128 * 2 * 1000 * 4 * 6
    of_batch = 128 * 2_000_000 + 6_144_000
    assert chunk_that_fits(128, 100, 2, 100, 1000, 2 * of_batch) == 0
    assert chunk_that_fits(128, 100, 2, 100, 1000, 2 * of_batch - 2) == 64
    assert chunk_that_fits(128, 100, 2, 100, 1000, 1) == 8
    assert chunk_that_fits(128, 100, 2, 100, 1000, None) == 0
    assert (free_memory() or 1) > 0


def test_another_learning_rate_must_be_better_by_a_standard_error():
    # of 100 queries at .80 the standard error is .04
    assert best_rate({1: 0.75, 2: 0.75, 4: 0.80}, 2, 100) == 4
    assert best_rate({1: 0.75, 2: 0.77, 4: 0.80}, 2, 100) == 2
    assert best_rate({1: 0.0, 2: 0.0, 4: 0.0}, 2, 100) == 2


@pytest.mark.parametrize("minutes", [0, -3, float("nan"), float("inf")])
def test_a_time_must_be_one(minutes):
    with pytest.raises(SettingError, match=r"minutes = .* is not allowed: more than 0"):
        GivenTime(minutes)


def test_the_clock_runs():
    time = GivenTime(2)
    assert time.seconds == 120 and 0 <= time.spent() < 60


class SmallCard(Trials):
    """Trials on a card into which a hundred pairs fit."""

    def _to_train(self, settings):
        return None

    def pairs(self, encoder):
        return None

    def _steps(self, encoder, pairs, settings, steps):
        if settings.batch > 100:
            raise torch.cuda.OutOfMemoryError


def test_a_batch_is_halved_until_a_step_fits():
    trials = SmallCard("", "", None, ModelSettings(), None, [], 0, Path("nothing"))
    assert trials.batch_that_fits(FinetuneSettings(), 512) == 64
    assert trials.batch_that_fits(FinetuneSettings(), 32) == 32


def test_steps_are_timed_after_one_that_is_not():
    asked = []
    seconds_of(lambda steps: asked.append(steps), seconds=1e9)
    assert asked == [1, 1, 20]
    asked.clear()
    seconds_of(lambda steps: asked.append(steps), seconds=0.0)
    assert asked == [1, 2]


def test_settings_that_came_later_leave_former_choices_good():
    """The digest of the usual settings is that of the version before them; one that is not as usual changes it. Before,
    every text was read as English."""
    usual = ["lexical.stemmer=english", "vocab.stemmer=english"]
    former = "13b389b2cff29fafa8f53fc66a3db3550a870954ab63723022ed9532e0c96099"
    assert digest_of(load_settings(None, usual)) == former
    for other in ("data.pairs=auto", "model.graft=neighbours", 'finetune.teachers=["dense"]', "finetune.steps=7"):
        assert digest_of(load_settings(None, [*usual, other])) != former
