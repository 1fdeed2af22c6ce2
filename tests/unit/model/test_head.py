import numpy as np
import pytest
import torch

from lexigraft.model.head import Bags, SparseHead, add_own_words, diagnose, graft, own_words, random_head


def test_a_grafted_row_is_the_mean_of_its_subwords():
    weight = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    head = graft(weight, torch.tensor([0.0, 1.0, 5.0]), np.array([0, 1, 3]), np.array([2, 0, 1]))
    assert head.weight.tolist() == [[5.0, 1.0], [2.0, 4.0]]
    assert head.bias.tolist() == [5.0, 0.5]


def test_a_weighted_mean_where_shares_are_given():
    weight = torch.tensor([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]])
    shares = np.array([1.0, 0.25, 0.75], np.float32)
    head = graft(weight, torch.tensor([0.0, 4.0, 8.0]), np.array([0, 1, 3]), np.array([2, 0, 1]), shares)
    assert head.weight.tolist() == [[5.0, 1.0], [2.5, 5.0]]
    assert head.bias.tolist() == [8.0, 3.0]


def test_own_words_are_ahead_in_their_own_text_alone():
    own = own_words(np.array([1.0, 3.0, 2.0]), strength=2.0).requires_grad_()
    assert own.tolist() == [1.0, 3.0, 2.0]  # twice the IDF over its mean
    bags = Bags(torch.tensor([0, 1, 1]), torch.tensor([1, 0, 1]), torch.tensor([1.0, 0.5, 2.0]))
    found = add_own_words(torch.ones(2, 3), own, bags)
    assert found.tolist() == [[1.0, 4.0, 1.0], [1.5, 7.0, 1.0]]
    found.sum().backward()
    assert own.grad.tolist() == [0.5, 3.0, 0.0]


def test_rescaling_leaves_the_bias():
    head = SparseHead(torch.tensor([[2.0, 4.0]]), torch.tensor([3.0]))
    head.rescale(2)
    assert (head.weight.tolist(), head.bias.tolist()) == ([[1.0, 2.0]], [3.0])


def test_diagnostics_by_hand():
    # Norms 5 and 2; unit rows (0.6, 0.8) and (0, 1) have cosine 0.8.
    found = diagnose(SparseHead(torch.tensor([[3.0, 4.0], [0.0, 2.0]]), torch.zeros(2)))
    assert (found.mean_norm, found.max_norm) == (3.5, 5.0)
    assert found.anisotropy == pytest.approx(0.8)


def test_anisotropy_is_the_mean_cosine():
    head = random_head(30, 8, seed=3)
    unit = torch.nn.functional.normalize(head.weight.detach().double())
    cosines = unit @ unit.T
    expected = (cosines.sum() - cosines.trace()) / (30 * 29)
    assert diagnose(head).anisotropy == pytest.approx(expected.item())
    assert torch.equal(random_head(30, 8, seed=3).weight, head.weight)
