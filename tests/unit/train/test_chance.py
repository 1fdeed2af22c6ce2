"""A training whose ranking has died is stopped; one that learns, however slowly, is not."""

import numpy as np
import pytest
import torch

from lexigraft.core.settings import FinetuneSettings
from lexigraft.core.types import Vocabulary
from lexigraft.inference.reading import read_documents, read_queries
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.train.loop import TrainingError
from lexigraft.train.ranking.chance import FEWEST_STEPS, TOLERANCE, ChanceWatch
from lexigraft.train.ranking.finetune import finetune
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.train.trainable import set_dropout
from tests.families import STEMS, write_backbone

CHANCE = 5.95
WARMUP = 5
TERMS = [f"{stem}{letter}" for stem in STEMS for letter in "ae"]


def watch(tmp_path, **changes):
    return ChanceWatch(FinetuneSettings(**{"warmup": WARMUP, "steps": 300, **changes}), tmp_path / "checkpoint")


def steps_seen(watched, losses, first=0):
    """The step at which it stops; none where it does not."""
    for step, values in enumerate(losses, first):
        try:
            watched.see(step, values if isinstance(values, dict) else {"rank": values}, CHANCE)
        except TrainingError:
            return step
    return None


def test_it_stops_after_so_many_steps_at_chance_and_says_what_to_do(tmp_path):
    dead = watch(tmp_path, learning_rate=3e-4)
    assert steps_seen(dead, [CHANCE] * (WARMUP + FEWEST_STEPS - 1)) is None  # those of the warm-up do not count
    with pytest.raises(TrainingError, match=r"died: at step 55 its loss is 5\.9504, and for 50 steps") as stopped:
        dead.see(WARMUP + FEWEST_STEPS - 1, {"rank": CHANCE + TOLERANCE * 0.4}, CHANCE)
    said = str(stopped.value)
    for part in ("Lower finetune.learning_rate (now 0.0003)", "larger model.alpha", "finetune.joint_flops"):
        assert part in said


@pytest.mark.parametrize(
    "loss",
    [
        CHANCE - 2 * TOLERANCE,  # begins to learn
        CHANCE + 2 * TOLERANCE,  # unstable, and alive
        {"rank": CHANCE, "rank_unmasked": CHANCE - 0.1},  # whole vectors rank: masked ones may yet
        {"kl": CHANCE},  # no ranking loss, nothing to compare
    ],
)
def test_what_is_not_chance_is_left_alone(loss, tmp_path):
    assert steps_seen(watch(tmp_path), [loss] * 300) is None


def test_one_step_away_from_chance_begins_the_count_anew(tmp_path):
    losses = [CHANCE] * (WARMUP + FEWEST_STEPS - 1) + [CHANCE - 0.01] + [CHANCE] * 300
    assert steps_seen(watch(tmp_path), losses) == WARMUP + 2 * FEWEST_STEPS - 1


def test_long_runs_and_high_temperatures_have_more_patience(tmp_path):
    assert steps_seen(watch(tmp_path, steps=10_000), [CHANCE] * 10_000) == WARMUP + 500 - 1
    assert steps_seen(watch(tmp_path, temperature=10.0), [CHANCE - TOLERANCE / 5] * 300) is None


def test_a_batch_in_which_nothing_is_ranked_says_nothing(tmp_path):
    watched = watch(tmp_path)
    for step in range(300):
        watched.see(step, {"rank": 0.0}, 0.0)
    assert int(watched.state()["steps_at_chance"]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_backbone("bert", tmp_path_factory.mktemp("bert"), loud=5.0)


def train(folder, checkpoint, texts, **changes):
    backbone = load_backbone(str(folder))
    torch.manual_seed(1)
    rows = torch.randn(len(TERMS), backbone.width), torch.ones(len(TERMS)), torch.zeros(len(TERMS))
    encoder = SparseEncoder(backbone, SparseHead(*rows), Vocabulary(TERMS), "grafted", mean_words=2.0)
    set_dropout(encoder, 0.0)
    reader, each = encoder.reader(), np.arange(len(texts))
    read = read_queries(reader, texts, 8), read_documents(encoder.meta, reader, texts, 8)
    settings = FinetuneSettings(
        **{"steps": 80, "batch": 8, "warmup": WARMUP, "learning_rate": 3e-3, "head_rate": 1.0, "joint_flops": 0.0,
           "margin": 0.2, "validate_every": 0, "checkpoint_every": 20, **changes}
    )  # fmt: skip
    return finetune(encoder, TrainingPairs(*read, each, each), settings, checkpoint, {"of": "this test"}, 0).history


def test_texts_that_nothing_tells_apart_are_noticed_and_a_continued_run_stops_at_the_same_step(folder, tmp_path):
    """Equal texts have equal scores, however they are trained. Dropout would tell them apart: there is none."""
    for _ in range(2):  # the second goes on after step 40, with 35 of the 50 counted
        with pytest.raises(TrainingError, match=r"the ranking died: at step 55 "):
            train(folder, tmp_path / "checkpoint", ["kura mele"] * 16)
        assert (tmp_path / "checkpoint/state.pt").is_file()


def test_a_healthy_run_is_not_stopped(folder, tmp_path):
    texts = [f"{one} {other}" for one in TERMS[:8] for other in TERMS[8:10]]
    history = train(folder, tmp_path / "checkpoint", texts)
    assert len(history) == 80
    assert history[-1]["rank"] < history[0]["rank"] / 2
