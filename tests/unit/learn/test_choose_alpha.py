import json
import math
from dataclasses import replace

import pytest

from lexigraft.core.settings import FinetuneSettings
from lexigraft.learn.choose_alpha import FILE, choose_alpha, kept_choice, probe_settings
from lexigraft.train.activations import Activations
from lexigraft.train.rescaling import ALPHAS, ProbeResult

CALM = Activations(128, 0.01, 0.5, 2.0, 20.0, 40.0, 5.0, math.log(128))


def best_at(best, asked):
    def probe(alpha):
        asked.append(alpha)
        return ProbeResult(1 / (1 + abs(alpha - best)), 10.0, 4.0)

    return probe


def test_nothing_is_probed_where_the_head_is_not_too_large():
    asked = []
    choice = choose_alpha(1.9, CALM, best_at(4, asked))
    assert (choice.alpha, choice.probes, asked) == (1.0, {}, [])


@pytest.mark.parametrize(("norm", "found"), [(2.0, CALM), (0.5, replace(CALM, first_loss=20.0))])
def test_a_long_norm_or_a_high_first_loss_is_probed(norm, found):
    asked = []
    choice = choose_alpha(norm, found, best_at(8, asked))
    assert (choice.alpha, tuple(asked)) == (8.0, ALPHAS)


def test_probing_goes_on_while_the_largest_is_the_best():
    asked = []
    assert choose_alpha(9.0, CALM, best_at(64, asked)).alpha == 64.0
    assert asked == [*ALPHAS, 32.0, 64.0, 128.0]


def test_probing_goes_on_while_nothing_ranks():
    asked = []

    def probe(alpha):
        asked.append(alpha)
        return ProbeResult(0.6, 8.0, 2.0) if alpha == 64 else ProbeResult(0.004 / alpha, math.inf, CALM.chance_loss)

    assert choose_alpha(9.0, CALM, probe).alpha == 64.0
    assert asked == [1, 2, 4, 8, 16, 32, 64, 128]


def test_the_choice_is_written_with_its_numbers(tmp_path):
    results = {1.0: ProbeResult(0.0, math.inf, math.inf), 2.0: ProbeResult(0.75, 9.0, 2.5)}
    choose_alpha(3.0, CALM, lambda alpha: results.get(alpha, ProbeResult(0.5, 8.0, 3.0))).write(tmp_path)
    found = json.loads((tmp_path / FILE).read_text())
    assert (found["alpha"], found["mean_norm"], found["activations"]["first_loss"]) == (2.0, 3.0, 5.0)
    assert found["probes"][0] == {"alpha": 1.0, "score": 0.0, "first_loss": None, "last_loss": None}
    assert found["probes"][1] == {"alpha": 2.0, "score": 0.75, "first_loss": 9.0, "last_loss": 2.5}


def test_a_probe_is_the_same_training_in_small():
    long = FinetuneSettings(steps=400_000, warmup=10_000, ramp=4000, horizon=800_000, validate_every=10_000)
    short = probe_settings(long)
    assert (short.steps, short.warmup, short.ramp, short.horizon, short.validate_every) == (1000, 25, 10, 2000, 1000)
    assert probe_settings(FinetuneSettings(steps=500)).steps == 50
    assert probe_settings(FinetuneSettings(steps=150)).steps == 20
    assert probe_settings(FinetuneSettings(steps=5)).steps == 5
    assert probe_settings(FinetuneSettings(validate_every=0)).validate_every == 0
    untouched = replace(
        short, **{name: getattr(long, name) for name in ("steps", "warmup", "ramp", "horizon", "validate_every")}
    )
    assert replace(untouched, checkpoint_every=long.checkpoint_every) == long


def test_a_choice_is_kept_for_who_continues(tmp_path):
    asked, model = [], tmp_path / "model"
    model.mkdir()

    def choose():
        asked.append(1)
        return choose_alpha(3.0, CALM, best_at(4, []))

    for _ in range(2):
        assert kept_choice(tmp_path / "kept", {"steps": 5}, choose, model) == 4.0
    assert (len(asked), json.loads((model / FILE).read_text())["alpha"]) == (1, 4.0)
    kept_choice(tmp_path / "kept", {"steps": 6}, choose, model)
    assert len(asked) == 2  # of another recipe
    (tmp_path / "kept" / FILE).write_text("{")
    assert kept_choice(tmp_path / "kept", {"steps": 6}, choose, model) == 4.0
    assert len(asked) == 3  # damaged
