"""What pre-training computes, worked out by hand."""

import math

import numpy as np
import pytest
import torch

from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy
from lexigraft.train.language.logits import LogitStatistics
from lexigraft.train.language.sampled_classes import ClassSampler, DrawnClasses, inclusion_chances
from lexigraft.train.language.sampled_cross_entropy import sampled_cross_entropy


def test_cross_entropy():
    """One row, logits (0, log 2, log 5): shares 1/8, 1/4, 5/8; label 1: loss log 4, gradient (1/8, -3/4, 5/8)."""
    weight = torch.tensor([[0.0], [math.log(2)], [math.log(5)]], requires_grad=True)
    hidden, bias = torch.ones(1, 1, requires_grad=True), torch.zeros(3, requires_grad=True)
    found = linear_cross_entropy(hidden, torch.tensor([1]), weight, bias)
    found.loss.backward()
    assert (found.loss.item(), found.accuracy.item()) == (pytest.approx(math.log(4)), 0.0)
    assert bias.grad.tolist() == pytest.approx([0.125, -0.75, 0.625])
    assert weight.grad.flatten().tolist() == pytest.approx([0.125, -0.75, 0.625])
    assert hidden.grad.item() == pytest.approx(-0.75 * math.log(2) + 0.625 * math.log(5))


def test_sampled_cross_entropy():
    """Logits (0, log 2, log 5, log 7), label 1. Drawn: 0 with chance 1/2, 1, which is the label and is left out, and 2
    with chance 1/4. The sum is 2 + 1 / (1/2) + 5 / (1/4) = 24: loss log 12, shares 2/24 of 0, 2/24 of 1, 20/24 of 2."""
    weight = torch.tensor([[0.0], [math.log(2)], [math.log(5)], [math.log(7)]], requires_grad=True)
    hidden, bias = torch.ones(1, 1, requires_grad=True), torch.zeros(4, requires_grad=True)
    drawn = DrawnClasses(np.array([0, 1, 2]), np.log(np.array([1 / 2, 1 / 8, 1 / 4], np.float32)))
    found = sampled_cross_entropy(hidden, torch.tensor([1]), weight, bias, drawn)
    found.loss.backward()
    assert (found.loss.item(), found.accuracy.item()) == (pytest.approx(math.log(12)), 0.0)  # log 5 is higher
    shares = [2 / 24, 2 / 24 - 1, 20 / 24, 0]
    assert bias.grad.tolist() == pytest.approx(shares)
    assert weight.grad.flatten().tolist() == pytest.approx(shares)
    assert hidden.grad.item() == pytest.approx(shares[1] * math.log(2) + shares[2] * math.log(5), rel=1e-5)


def test_chances_of_being_drawn():
    """Three of weights 8, 4, 2, 1, 1: in proportion, 3 * 8 / 16 of the first is more than 1, so it is always there; of
    the others 2 * 4 / 8 of the second is 1; and 1 * 2 / 4, 1 * 1 / 4 of the rest."""
    assert inclusion_chances(np.array([1.0, 8, 2, 1, 4]), 3).tolist() == [0.25, 1, 0.5, 0.25, 1]


def test_chances_by_counts():
    """Powers of 16, 81, 0 and 0 are 8, 27, 0 and 0: three quarters by those, a quarter by 1/4 each."""
    wanted = [0.75 * 8 / 35 + 1 / 16, 0.75 * 27 / 35 + 1 / 16, 1 / 16, 1 / 16]
    assert ClassSampler(np.array([16, 81, 0, 0]), 1, seed=0).chances.tolist() == pytest.approx(wanted)
    assert ClassSampler(np.array([0, 0]), 1, seed=0).chances.tolist() == [0.5, 0.5]  # nothing is known


def test_logit_statistics():
    """Twelve terms, logits of three tokens in two documents: of document 0 all 2, then 0..11; of document 1 all -1.

    A term's logits are (2, j, -1): its std is that of three numbers. Top 10 of 0..11 are 2..11: mean 6.5, variance
    (100 - 1) / 12 = 8.25; all: mean 5.5, variance 143 / 12. Non-negative: 12, 12 and 0 of 12.
    """
    rows = torch.tensor([[2.0] * 12, list(range(12)), [-1.0] * 12]).double()
    statistics = LogitStatistics(rows.T.contiguous(), torch.zeros(12).double())
    statistics.add(torch.eye(3).double(), torch.tensor([0, 0, 1]))
    found = statistics.result()
    of_terms = [((4 + j * j + 1) / 3 - ((1 + j) / 3) ** 2) ** 0.5 for j in range(12)]
    assert found["logit-score-std"] == pytest.approx(sum(of_terms) / 12)
    assert found["doc-score-avg@10"] == pytest.approx(((2 + 6.5) / 2 - 1) / 2)
    assert found["doc-score-std@10"] == pytest.approx(math.sqrt(8.25) / 2 / 2)
    assert found["doc-score-avg@100"] == found["doc-score-avg@all"] == pytest.approx(((2 + 5.5) / 2 - 1) / 2)
    assert found["doc-score-std@all"] == pytest.approx(math.sqrt(143 / 12) / 2 / 2)
    assert found["non-neg-terms-avg"] == pytest.approx(8)
    assert found["non-neg-terms-std"] == pytest.approx(math.sqrt(32))  # 12, 12, 0: (16 + 16 + 64) / 3
