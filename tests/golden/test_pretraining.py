"""What pre-training computes, worked out by hand."""

import math

import pytest
import torch

from lexigraft.train.linear_cross_entropy import linear_cross_entropy


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
