"""Losses and regularisers of fine-tuning against numbers worked out by hand."""

import math

import pytest
import torch

from lexigraft.train.ranking.document_frequency import DocumentFrequency
from lexigraft.train.ranking.losses import distillation_loss, in_batch_loss, margin_mse_loss, mask_kl_loss
from lexigraft.train.ranking.regularizers import df_flops, df_weights, l1

NAN = float("nan")


def test_a_margin_is_taken_from_the_own_score_before_the_softmax():
    scores = torch.tensor([[2.0, 0.0], [1.0, 1.0]])
    # rows: 2 - 1 against 0, and 1 - 1 against 1; the temperature divides what is left
    expected = (math.log(1 + math.exp(-1)) + math.log(1 + math.exp(1))) / 2
    assert in_batch_loss(scores, margin=1.0).item() == pytest.approx(expected)
    halved = (math.log(1 + math.exp(-0.5)) + math.log(1 + math.exp(0.5))) / 2
    assert in_batch_loss(scores, temperature=2.0, margin=1.0).item() == pytest.approx(halved)


def test_hard_negatives_are_further_columns_that_need_not_find_a_query():
    scores = torch.tensor([[2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    forward = (math.log(1 + math.exp(-2) + math.exp(-1)) + math.log(3)) / 2
    backward = math.log(1 + math.exp(-1))  # 2 over 1, and 1 over 0: the third column is nobody's
    assert in_batch_loss(scores).item() == pytest.approx(forward)
    assert in_batch_loss(scores, symmetric=True).item() == pytest.approx((forward + backward) / 2)


def test_a_hard_negative_that_is_relevant_to_another_query_is_none_of_it():
    scores = torch.tensor([[2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    relevant = torch.tensor([[1, 0, 1], [0, 1, 0]]).bool()
    expected = (math.log(1 + math.exp(-2)) + math.log(3)) / 2
    assert in_batch_loss(scores, relevant).item() == pytest.approx(expected)


def test_mask_kl():
    unmasked, masked = torch.tensor([[math.log(3.0), 0.0]]), torch.tensor([[0.0, 0.0]], requires_grad=True)
    # (3/4, 1/4) aimed at, (1/2, 1/2) found
    expected = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert mask_kl_loss(unmasked, masked).item() == pytest.approx(expected)
    assert mask_kl_loss(2 * unmasked, masked, temperature=2.0).item() == pytest.approx(expected)
    assert mask_kl_loss(torch.cat((unmasked, unmasked * 0)), torch.zeros(2, 2)).item() == pytest.approx(expected / 2)


def test_only_the_masked_scores_learn_from_mask_kl():
    unmasked, masked = torch.tensor([[1.0, 0.0]], requires_grad=True), torch.tensor([[0.0, 0.0]], requires_grad=True)
    mask_kl_loss(unmasked, masked).backward()
    assert unmasked.grad is None
    assert masked.grad.abs().sum() > 0


def test_margin_mse():
    scores = torch.tensor([[5.0, 3.0, 4.0], [1.0, 2.0, 0.0]])
    teacher = torch.tensor([[9.0, 8.0, NAN], [0.0, 4.0, 3.0]])
    # 2 against 1; -1 against -4; 1 against -3; the second negative of the first query has no score
    assert margin_mse_loss(scores, teacher).item() == pytest.approx((1 + 9 + 16) / 3)
    assert margin_mse_loss(scores, teacher * NAN).item() == 0.0


def test_a_query_whose_own_document_the_teacher_did_not_score_has_no_margin():
    scores = torch.tensor([[5.0, 3.0], [1.0, 2.0]])
    assert margin_mse_loss(scores, torch.tensor([[NAN, 8.0], [0.0, 4.0]])).item() == pytest.approx(9.0)


def test_distillation():
    teacher = torch.tensor([[math.log(3.0), 0.0, NAN]])
    scores = torch.tensor([[0.0, 0.0, 7.0]], requires_grad=True)
    expected = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    loss = distillation_loss(scores, teacher)
    assert loss.item() == pytest.approx(expected)
    loss.backward()
    assert scores.grad.tolist()[0] == pytest.approx([0.5 - 0.75, 0.5 - 0.25, 0.0])
    # the temperature is that of the scores, not of the teacher
    assert distillation_loss(2 * teacher.nan_to_num(), teacher, temperature=2.0).item() == pytest.approx(0.0, abs=1e-6)


def test_a_query_with_one_scored_document_has_nothing_to_compare():
    teacher = torch.tensor([[math.log(3.0), 0.0], [1.0, NAN], [NAN, NAN]])
    expected = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert distillation_loss(torch.zeros(3, 2), teacher).item() == pytest.approx(expected)
    assert distillation_loss(torch.zeros(1, 2), teacher[1:2]).item() == 0.0


def test_l1():
    assert l1(torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.5, 0.5]])).item() == 2.0  # (3 + 1) / 2


def test_weights_by_document_frequency():
    # log_(1/4) 2 = -1/2: at x = 1/16 it is (4 - 1)^2 = 9, at x = 1/4 (2 - 1)^2 = 1, at x = 4/9 (3/2 - 1)^2 = 1/4
    found = df_weights(torch.tensor([0.0, 1 / 16, 1 / 4, 4 / 9, 1.0]), alpha=0.25, beta=2.0)
    assert found.tolist() == pytest.approx([0.0, 0.1, 0.5, 0.8, 1.0])
    default = df_weights(torch.tensor([0.0, 0.1, 1.0]), alpha=0.1, beta=10.0)
    assert default.tolist() == pytest.approx([0.0, 0.5, 1.0], abs=1e-5)


def test_df_flops():
    vectors = torch.tensor([[1.0, 0.0], [3.0, 2.0]])  # means 2 and 1
    assert df_flops(vectors, torch.tensor([0.5, 0.1])).item() == pytest.approx(0.5 * 4 + 0.1 * 1)


def test_document_frequency_is_refreshed_every_hundred_steps():
    frequency = DocumentFrequency(2, torch.device("cpu"))
    assert frequency.see(torch.tensor([[1.0, 0.0], [2.0, 3.0]]), 0).tolist() == [1.0, 0.5]
    for step in range(1, 100):
        assert frequency.see(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), step).tolist() == [1.0, 0.5]
    assert frequency.see(torch.tensor([[9.0, 9.0]]), 100).tolist() == pytest.approx([2 / 200, 100 / 200])
    for step in range(101, 200):
        frequency.see(torch.tensor([[9.0, 0.0]]), step)
    assert frequency.see(torch.tensor([[0.0, 0.0]]), 200).tolist() == pytest.approx([1.0, 0.01])
