"""Pooling by hand: two tokens and padding, two terms."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from lexigraft.core.types import Vocabulary
from lexigraft.inference.meta import LOG1P, LOG1P_TWICE
from lexigraft.model.activation import activate
from lexigraft.model.backbone import Backbone, Body
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import Bags, SparseHead
from lexigraft.model.pool_sum import sum_over_tokens

# Logits [[1, -2], [3, -1]] + bias [0.5, 1.5], so [[1.5, -0.5], [3.5, 0.5]]; the third token is padding.
HIDDEN = torch.tensor([[[1.0, 0.0], [3.0, 1.0], [100.0, 100.0]]])
WEIGHT, BIAS = torch.tensor([[1.0, 0.0], [-2.0, 5.0]]), torch.tensor([0.5, 1.5])
MASK = torch.tensor([[1, 1, 0]])
LN_2_5, LN_4_5, LN_1_5 = math.log(2.5), math.log(4.5), math.log(1.5)


def test_sum():
    found = sum_over_tokens(HIDDEN, MASK, WEIGHT, BIAS)
    assert found[0].tolist() == pytest.approx([LN_2_5 + LN_4_5, LN_1_5])
    twice = sum_over_tokens(HIDDEN, MASK, WEIGHT, BIAS, LOG1P_TWICE)
    assert twice[0].tolist() == pytest.approx([math.log(1 + LN_2_5) + math.log(1 + LN_4_5), math.log(1 + LN_1_5)])


def test_activations():
    logits = torch.tensor([3.5, -1.0, float("-inf")])
    assert activate(logits, LOG1P).tolist() == pytest.approx([LN_4_5, 0, 0])
    assert activate(logits, LOG1P_TWICE).tolist() == pytest.approx([math.log(1 + LN_4_5), 0, 0])


class Given(nn.Module):
    """A backbone that answers with the hidden states above."""

    def get_input_embeddings(self):
        return nn.Embedding(2, 2)

    def forward(self, input_ids, attention_mask):
        return type("Output", (), {"logits": HIDDEN})


def encoder(pooling, pooled="words", own=None):
    backbone = Backbone("given", Body(Given(), True), None, None, WEIGHT, BIAS)
    made = SparseEncoder(backbone, SparseHead(WEIGHT, BIAS, own), Vocabulary(["a", "b"]), "random").eval()
    made.meta = replace(made.meta, pooling=pooling, pooled=pooled)
    return made


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("max", [LN_4_5, LN_1_5]), ("sum", [LN_2_5 + LN_4_5, LN_1_5]), ("cls", [LN_2_5, 0.0])],
)
def test_an_encoder_pools_as_it_says(pooling, expected):
    assert encoder(pooling)(MASK, MASK)[0].tolist() == pytest.approx(expected)


def test_which_tokens_are_pooled():
    only_second, none = torch.tensor([[0, 1, 0]]), torch.zeros(1, 3, dtype=torch.long)
    assert encoder("sum")(MASK, MASK, only_second)[0].tolist() == pytest.approx([LN_4_5, LN_1_5])
    assert encoder("sum", "all")(MASK, MASK, only_second)[0].tolist() == pytest.approx([LN_2_5 + LN_4_5, LN_1_5])
    assert encoder("max", "all")(MASK, MASK, none)[0].tolist() == pytest.approx([LN_4_5, LN_1_5])
    assert encoder("cls")(MASK, MASK, only_second)[0].tolist() == pytest.approx([LN_2_5, 0])
    for pooling in ("max", "sum", "cls"):
        assert encoder(pooling)(MASK, MASK, none)[0].tolist() == [0, 0]  # of a text without words nothing is


def test_own_words():
    """The text holds term 0, weight 2, and the model has learned 1 of it: 2 more logit, or a token of logit 2 more."""
    own, bags = torch.tensor([1.0, 9.0]), Bags(torch.tensor([0]), torch.tensor([0]), torch.tensor([2.0]))
    poolings = ("max", "sum", "cls")
    found = {name: encoder(name, own=own)(MASK, MASK, None, bags)[0].tolist() for name in poolings}
    assert found["max"] == pytest.approx([math.log(6.5), LN_1_5])
    assert found["cls"] == pytest.approx([math.log(4.5), 0])
    assert found["sum"] == pytest.approx([LN_2_5 + LN_4_5 + math.log(3), LN_1_5])
    against = torch.tensor([-1.0, 9.0])
    assert encoder("sum", own=against)(MASK, MASK, None, bags)[0, 0].item() == pytest.approx(LN_2_5 + LN_4_5)
