"""Losses and regularisers against numbers worked out by hand."""

import math

import pytest
import torch

from lexigraft.train.ranking.losses import in_batch_loss, keep_heaviest
from lexigraft.train.ranking.ranking_validation import recall
from lexigraft.train.ranking.regularizers import flops, joint_flops, quadratic_ramp


def test_in_batch_loss():
    scores = torch.tensor([[2.0, 0.0], [1.0, 1.0]])
    expected = (math.log(1 + math.exp(-2)) + math.log(2)) / 2
    assert in_batch_loss(scores).item() == pytest.approx(expected)
    assert in_batch_loss(scores, temperature=2.0).item() == pytest.approx(
        (math.log(1 + math.exp(-1)) + math.log(2)) / 2
    )


def test_a_symmetric_loss_asks_both_ways():
    scores = torch.tensor([[2.0, 0.0], [1.0, 1.0]])  # columns: 2 over 1, and 1 over 0
    forward = (math.log(1 + math.exp(-2)) + math.log(2)) / 2
    backward = math.log(1 + math.exp(-1))
    assert in_batch_loss(scores, symmetric=True).item() == pytest.approx((forward + backward) / 2)


def test_recall():
    scores = torch.tensor([[3.0, 2.0, 1.0], [1.0, 1.0, 0.0], [0.0, 5.0, 9.0]])
    wanted = torch.tensor([1, 0, 2])
    assert recall(scores, wanted, 1) == pytest.approx(1 / 3)  # the tie counts against the wanted one
    assert recall(scores, wanted, 2) == 1.0


def test_copies_of_the_own_document_are_no_negatives():
    scores = torch.tensor([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    same = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 1]]).bool()
    expected = (2 * math.log(1 + math.exp(-2)) + math.log(3)) / 3
    assert in_batch_loss(scores, same).item() == pytest.approx(expected)


def test_keep_heaviest():
    vectors = torch.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    kept = keep_heaviest(vectors, 2)
    assert kept.tolist() == [[0.0, 3.0, 2.0]]
    kept.sum().backward()
    assert vectors.grad.tolist() == [[0.0, 1.0, 1.0]]
    assert keep_heaviest(vectors, 0) is vectors
    assert keep_heaviest(vectors, 3) is vectors


def test_regularizers():
    queries, documents = torch.tensor([[1.0, 0.0], [3.0, 2.0]]), torch.tensor([[0.0, 4.0], [2.0, 0.0]])
    assert flops(queries).item() == 5.0  # means 2 and 1
    assert joint_flops(queries, documents).item() == 4.0  # (2, 1) . (1, 2)


def test_ramp():
    assert [quadratic_ramp(step, 4) for step in (0, 1, 2, 4, 9)] == [0.0, 0.0625, 0.25, 1.0, 1.0]
    assert quadratic_ramp(0, 0) == 1.0


def test_a_query_without_negatives_costs_nothing():
    """One pair alone, or a batch of documents that are all relevant: only the own column is left."""
    for size in (1, 3):
        scores = torch.full((size, size), 2.0, requires_grad=True)
        loss = in_batch_loss(scores, torch.ones(size, size, dtype=torch.bool), symmetric=True, margin=1.0)
        loss.backward()
        assert loss.item() == 0.0
        assert scores.grad.tolist() == [[0.0] * size] * size
