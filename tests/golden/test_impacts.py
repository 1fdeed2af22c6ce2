"""uniCOIL's weights, worked out by hand."""

import pytest
import torch

from lexigraft.model.impact import ImpactHead, weigh_terms

# Two hidden states wide; impact = ReLU(2 x - y + .5).
HIDDEN = torch.tensor(
    [[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [9.0, 9.0]],  # 2.5, 0 (-.5), 1.5, 3.5, padding
     [[0.5, 0.0], [0.5, 0.0], [3.0, 0.0], [0.0, 0.0], [9.0, 9.0]]]
)  # 1.5, 1.5, 6.5 (special), .5, padding # fmt: skip
SUBWORDS = torch.tensor([[3, 4, 5, 5, 3], [4, 4, 0, 2, 2]])  # 0 is special, 1 the unknown
MASK = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 0]])
IS_TERM = torch.tensor([False, False, True, True, True, True])


def made():
    return ImpactHead(torch.tensor([[2.0, -1.0]]), torch.tensor([0.5]), IS_TERM)


def test_of_a_term_in_several_places_the_largest_impact_counts():
    head = made()
    found = weigh_terms(head(HIDDEN), SUBWORDS, head.terms_at(SUBWORDS, MASK), 6)
    assert found.tolist() == [[0, 0, 0, 2.5, 0, 3.5], [0, 0, 0.5, 0, 1.5, 0]]


def test_the_gradient_goes_to_the_place_that_won_of_equal_ones_the_first():
    head, hidden = made(), HIDDEN.clone().requires_grad_()
    weigh_terms(head(hidden), SUBWORDS, head.terms_at(SUBWORDS, MASK), 6).sum().backward()
    won = (hidden.grad != 0).any(dim=2)
    assert won.tolist() == [[True, False, False, True, False], [True, False, False, True, False]]
    assert head.bias.grad.item() == pytest.approx(4)
    assert head.weight.grad.tolist() == [[pytest.approx(1 + 2 + 0.5 + 0), pytest.approx(0 + 1 + 0 + 0)]]
