import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.settings import FinetuneSettings
from lexigraft.learn.choose_alpha import FILE, chance_of, choose_alpha, kept_choice, probe_settings
from lexigraft.train.activations import Activations
from lexigraft.train.ranking.pairs import TrainingPairs
from lexigraft.train.rescaling import ALPHAS, Chance, ProbeResult

CALM = Activations(128, 0.01, 0.5, 2.0, 20.0, 40.0, 5.0, math.log(128))
CHANCE = Chance(math.log(128), 0.01)


def best_at(best, asked):
    def probe(alpha):
        asked.append(alpha)
        return ProbeResult(1 / (1 + abs(alpha - best)), 10.0, 4.0)

    return probe


def test_nothing_is_probed_where_the_head_is_not_too_large():
    asked = []
    choice = choose_alpha(1.9, CALM, best_at(4, asked), CHANCE)
    assert (choice.alpha, choice.probes, asked) == (1.0, {}, [])


@pytest.mark.parametrize(("norm", "found"), [(2.0, CALM), (0.5, replace(CALM, first_loss=20.0))])
def test_a_long_norm_or_a_high_first_loss_is_probed(norm, found):
    asked = []
    choice = choose_alpha(norm, found, best_at(8, asked), CHANCE)
    assert (choice.alpha, tuple(asked)) == (8.0, ALPHAS)


def test_probing_goes_on_while_the_largest_is_the_best():
    asked = []
    assert choose_alpha(9.0, CALM, best_at(64, asked), CHANCE).alpha == 64.0
    assert asked == [*ALPHAS, 32.0, 64.0, 128.0]


def test_probing_goes_on_while_nothing_ranks():
    asked = []

    def probe(alpha):
        asked.append(alpha)
        return ProbeResult(0.6, 8.0, 2.0) if alpha == 64 else ProbeResult(0.004 / alpha, math.inf, CALM.chance_loss)

    assert choose_alpha(9.0, CALM, probe, CHANCE).alpha == 64.0
    assert asked == [1, 2, 4, 8, 16, 32, 64, 128]


def noise(alpha):
    """A probe that ends at chance; which of them scores highest is noise."""
    return ProbeResult(0.03 if alpha == 1 else 0.004, 1000.0 / alpha**2, CHANCE.loss)


def test_where_no_probe_ranks_the_size_of_the_head_decides():
    """By the norm where it is long: 3.9 / 4 is the first below 1. Else by the first losses: 1000 / 16**2 is the first
    that is not twice that of chance."""
    choice = choose_alpha(3.9, CALM, noise, CHANCE)
    assert (choice.alpha, "no probe run learned to rank" in choice.why) == (4.0, True)
    assert choose_alpha(0.5, replace(CALM, first_loss=20.0), noise, CHANCE).alpha == 16.0


def test_only_probes_that_rank_are_compared():
    """The highest score of all is noise beside a loss that fell; one that ranks may have a high loss."""
    falling = {8.0: ProbeResult(0.02, 9.0, 3.0)}
    assert choose_alpha(3.9, CALM, lambda alpha: falling.get(alpha, noise(alpha)), CHANCE).alpha == 8.0
    ranking = {2.0: ProbeResult(0.4, 300.0, 40.0)}
    assert choose_alpha(3.9, CALM, lambda alpha: ranking.get(alpha, noise(alpha)), CHANCE).alpha == 2.0


def test_where_every_probe_diverged_the_largest_is_taken():
    def diverged(alpha):
        return ProbeResult(0.0, math.inf, math.inf)

    for chance in (CHANCE, Chance(math.inf)):
        assert choose_alpha(0.5, replace(CALM, first_loss=20.0), diverged, chance).alpha == 256.0


def pairs_of(queries, documents):
    return TrainingPairs(range(4), range(4), np.array(queries), np.array(documents))


@pytest.mark.parametrize("symmetric", [True, False])
def test_chance_is_that_of_the_training_batch(symmetric):
    """Four pairs, each with a document of its own: of equal scores the own one has a share of a quarter. Two queries
    that want the same document have a negative less, which log(batch) would not know."""
    settings = FinetuneSettings(batch=4, symmetric=symmetric, n_negatives=0)
    apart = chance_of(pairs_of([0, 1, 2, 3], [0, 1, 2, 3]), settings, 0, None)
    assert apart.loss == pytest.approx(math.log(4))
    shared = chance_of(pairs_of([0, 1, 2, 3], [0, 0, 1, 1]), settings, 0, None)
    assert shared.loss == pytest.approx(math.log(3))
    assert chance_of(pairs_of([0], [0]), replace(settings, in_batch=0.0, kl=1.0), 0, None).loss == math.inf


def test_a_score_is_more_than_chance_when_it_is_four_times_that():
    few = Chance(math.inf, 0.1)  # ten of a hundred documents
    assert not Chance(CHANCE.loss, 0.1).is_beaten_by(ProbeResult(0.3, 9.0, 9.0))
    assert Chance(CHANCE.loss, 0.1).is_beaten_by(ProbeResult(0.4, 9.0, 9.0))
    assert few.is_beaten_by(ProbeResult(0.0, 9.0, 9.0))  # a loss that has no value of chance tells nothing


def test_the_choice_is_written_with_its_numbers(tmp_path):
    results = {1.0: ProbeResult(0.0, math.inf, math.inf), 2.0: ProbeResult(0.75, 9.0, 2.5)}
    choose_alpha(3.0, CALM, lambda alpha: results.get(alpha, ProbeResult(0.5, 8.0, 3.0)), CHANCE).write(tmp_path)
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
        return choose_alpha(3.0, CALM, best_at(4, []), CHANCE)

    for _ in range(2):
        assert kept_choice(tmp_path / "kept", {"steps": 5}, choose, model) == 4.0
    assert (len(asked), json.loads((model / FILE).read_text())["alpha"]) == (1, 4.0)
    kept_choice(tmp_path / "kept", {"steps": 6}, choose, model)
    assert len(asked) == 2  # of another recipe
    (tmp_path / "kept" / FILE).write_text("{")
    assert kept_choice(tmp_path / "kept", {"steps": 6}, choose, model) == 4.0
    assert len(asked) == 3  # damaged
