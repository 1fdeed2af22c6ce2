"""Which token produced a term, by hand: the logits of `test_pooling`, and own words beside them."""

import math

import numpy as np
import pytest
import torch

from lexigraft.inference.network import NOTHING, OWN_WORD, WHOLE_TEXT
from lexigraft.model.head import Bags
from lexigraft.model.inputs import Inputs
from lexigraft.model.trace import trace_terms
from tests.golden.test_pooling import MASK, encoder

# Logits [[1.5, -0.5], [3.5, 0.5]] of two tokens and two terms.
BOTH_TERMS = np.array([0, 1], np.int32)


def inputs(own_weights=(), pooled=MASK):
    terms = torch.arange(len(own_weights))
    bags = Bags(torch.zeros_like(terms), terms, torch.tensor(own_weights, dtype=torch.float32))
    return Inputs(MASK, MASK, pooled, bags)


@pytest.mark.parametrize(
    ("pooling", "positions", "weights"),
    [
        ("max", [1, 1], [math.log(4.5), math.log(1.5)]),
        ("sum", [1, 1], [math.log(2.5) + math.log(4.5), math.log(1.5)]),
        ("cls", [WHOLE_TEXT, NOTHING], [math.log(2.5), 0.0]),
    ],
)
def test_the_largest_part_wins(pooling, positions, weights):
    found = trace_terms(encoder(pooling), inputs(), BOTH_TERMS)
    assert found.positions.tolist() == positions
    assert found.weights.tolist() == pytest.approx(weights)


def test_only_pooled_tokens_win():
    found = trace_terms(encoder("max"), inputs(pooled=torch.tensor([[1, 0, 0]])), BOTH_TERMS)
    assert found.positions.tolist() == [0, NOTHING]  # 1.5, and -0.5, which weighs nothing
    everywhere = trace_terms(encoder("max", "all"), inputs(pooled=torch.tensor([[1, 0, 0]])), BOTH_TERMS)
    assert everywhere.positions.tolist() == [1, 1]


def test_own_words_win_where_they_add_more_than_any_token():
    made = encoder("max", own=torch.tensor([4.0, 0.25]))
    found = trace_terms(made, inputs([1.0, 1.0]), BOTH_TERMS)
    assert found.positions.tolist() == [OWN_WORD, 1]  # 4 against 3.5, 0.25 against 0.5
    assert found.weights.tolist() == pytest.approx([math.log(8.5), math.log(1.75)])
    half = trace_terms(made, inputs([0.5, 4.0]), BOTH_TERMS)
    assert half.positions.tolist() == [1, OWN_WORD]  # 2 against 3.5, 1 against 0.5


def test_own_words_are_one_part_of_a_sum():
    found = trace_terms(encoder("sum", own=torch.tensor([4.0, 0.25])), inputs([1.0, 1.0]), BOTH_TERMS)
    assert found.positions.tolist() == [OWN_WORD, 1]
    expected = [math.log(2.5) + math.log(4.5) + math.log(5), math.log(1.5) + math.log(1.25)]
    assert found.weights.tolist() == pytest.approx(expected)


def test_terms_are_those_asked_for_in_their_order():
    found = trace_terms(encoder("cls"), inputs(), np.array([1, 0], np.int32))
    assert found.positions.tolist() == [NOTHING, WHOLE_TEXT]
    assert trace_terms(encoder("max"), inputs(), np.zeros(0, np.int32)).positions.tolist() == []
