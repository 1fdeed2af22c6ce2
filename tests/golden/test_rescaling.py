"""When a head is too large, by the published heads and results (rescaling study, Tables 1, 2), and losses by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lexigraft.core.settings import FinetuneSettings
from lexigraft.model.head import HeadDiagnostics
from lexigraft.train.activations import Activations, measure_activations
from lexigraft.train.rescaling import ALPHAS, ProbeResult, best_alpha, is_too_large, predict, suggest_alpha

MEAN_NORMS = {
    "bert": 1.401, "distilbert": 1.660, "albert": 0.407, "gte": 1.278,
    "roberta": 3.645, "modernbert": 2.553, "ettin": 2.628,
}  # fmt: skip
FAILED = {"roberta", "modernbert", "ettin"}
MRR = {  # MS MARCO dev, by alpha
    "roberta": (0.194, 0.226, 0.228, 0.173, 0.000),
    "modernbert": (0.045, 0.201, 0.214, 0.248, 0.250),
    "ettin": (0.099, 0.118, 0.175, 0.178, 0.238),
}
CALM = Activations(256, 0.01, 0.5, 2.0, 20.0, 40.0, 6.0, math.log(256))


@pytest.mark.parametrize("name", MEAN_NORMS)
def test_the_published_failures_are_too_large_and_no_others(name):
    assert is_too_large(MEAN_NORMS[name], None) == is_too_large(MEAN_NORMS[name], CALM) == (name in FAILED)
    assert (suggest_alpha(MEAN_NORMS[name]) > 1) == (name in FAILED)


def test_the_suggestion_did_better_than_none_in_every_published_case():
    for name, results in MRR.items():
        assert results[ALPHAS.index(suggest_alpha(MEAN_NORMS[name]))] > results[0]
    assert [suggest_alpha(norm) for norm in (1.99, 2.0, 4.1, 16.0, 1000.0)] == [1, 2, 8, 16, 16]


def test_probes_choose_what_was_published_as_best():
    for name, best in (("roberta", 4), ("modernbert", 16), ("ettin", 16)):
        probes = {alpha: ProbeResult(score, 9.0, 3.0) for alpha, score in zip(ALPHAS, MRR[name], strict=True)}
        assert best_alpha(probes) == best


def test_ties_go_to_the_lower_loss_then_to_the_lesser_alpha():
    probes = {1.0: ProbeResult(0.5, 9, 3.0), 2.0: ProbeResult(0.5, 9, 2.0), 4.0: ProbeResult(0.5, 9, 2.0)}
    assert best_alpha(probes) == 2
    assert best_alpha({**probes, 2.0: ProbeResult(0.5, math.inf, math.inf)}) == 4


def test_a_first_loss_of_more_than_twice_that_of_chance_is_high():
    assert not is_too_large(1.0, replace(CALM, first_loss=2 * CALM.chance_loss))
    assert is_too_large(1.0, replace(CALM, first_loss=2 * CALM.chance_loss + 0.01))


def test_first_loss_and_weights_by_hand():
    queries, documents = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    settings = FinetuneSettings(temperature=0.5, symmetric=False, qk=0, dk=0)
    found = measure_activations(queries, documents, np.eye(2, dtype=bool), settings)
    # Scores (1, 0) and (0, 2); over the temperature (2, 0) and (0, 4).
    assert found.first_loss == pytest.approx((math.log(1 + math.exp(-2)) + math.log(1 + math.exp(-4))) / 2)
    assert (found.positive_share, found.mean_weight, found.max_weight) == (0.5, 1.25, 2.0)
    assert (found.l0_q, found.l0_d, found.n_pairs) == (1.0, 1.0, 2)
    assert found.chance_loss == pytest.approx(0.6931472)
    # Both documents relevant to both queries: nothing is left to be told from.
    assert measure_activations(queries, documents, np.ones((2, 2), bool), settings).first_loss == 0.0


def test_masks_count_for_the_loss_and_not_for_the_terms():
    queries, documents = torch.tensor([[3.0, 1.0], [2.0, 1.0]]), torch.tensor([[3.0, 1.0], [1.0, 2.0]])
    settings = FinetuneSettings(temperature=1.0, symmetric=False, qk=1, dk=1)
    found = measure_activations(queries, documents, np.eye(2, dtype=bool), settings)
    # Kept: queries (3, 0), (2, 0), documents (3, 0), (0, 2): scores (9, 0) and (6, 0).
    assert found.first_loss == pytest.approx((math.log(1 + math.exp(-9)) + 6 + math.log(1 + math.exp(-6))) / 2)
    assert (found.l0_q, found.l0_d) == (2.0, 2.0)


def test_what_is_predicted():
    short, long = HeadDiagnostics(1.4, 2.0, 0.4), HeadDiagnostics(3.6, 4.5, 0.02)
    assert predict(short, None, 1.0) == predict(short, CALM, 1.0)
    assert "as it is" in predict(short, CALM, 1.0)[0]
    assert "--alpha 4" in predict(long, None, 4.0)[0]
    high = predict(short, replace(CALM, first_loss=80.0), 8.0)
    assert "80.0" in high[0] and "log(256) = 5.5" in high[0] and "--alpha 8" in high[0]
    assert "dead" in predict(short, replace(CALM, l0_q=0.2), 1.0)[0]
    assert "60% of all terms" in predict(short, replace(CALM, positive_share=0.6), 1.0)[0]
