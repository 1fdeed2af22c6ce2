"""Tracing agrees with the encoder's weights and with the obvious loop over tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lexigraft.core.types import Vocabulary
from lexigraft.inference.meta import LOG1P, LOG1P_TWICE
from lexigraft.inference.network import NOTHING, OWN_WORD, WHOLE_TEXT
from lexigraft.model import precision
from lexigraft.model.activation import activate
from lexigraft.model.backbone import Backbone, Body
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import Bags, SparseHead
from lexigraft.model.inputs import Inputs
from lexigraft.model.trace import trace_terms

N_TERMS, WIDTH = 7, 3


class Given(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden

    def get_input_embeddings(self):
        return nn.Embedding(2, WIDTH)

    def forward(self, input_ids, attention_mask):
        return type("Output", (), {"logits": self.hidden})


def slow_winner(logits, pooled, own, meta):
    """One term: its parts one after the other, the first of equals; own words before tokens."""
    if meta.pooling == "cls":
        parts = {WHOLE_TEXT: logits[0]} if any(pooled) else {}
    else:
        parts = {place: value for place, value in enumerate(logits) if pooled[place]}
    if meta.pooling == "sum":
        weight = sum(float(activate(torch.tensor(part), meta.activation)) for part in [*parts.values(), own])
    else:
        weight = float(activate(torch.tensor(max(parts.values(), default=float("-inf")) + own), meta.activation))
    best, found = (own, OWN_WORD) if own > 0 else (float("-inf"), NOTHING)
    for place, part in parts.items():
        if part > best:
            best, found = part, place
    return (found if weight > 0 else NOTHING), weight


@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from(["max", "sum", "cls"]),
    st.sampled_from(["words", "all"]),
    st.sampled_from([LOG1P, LOG1P_TWICE]),
    st.booleans(),
)
def test_it_is_the_loop(seed, length, pooling, pooled_kind, activation, has_own):
    rng = np.random.default_rng(seed)

    def draw(*shape):  # quarters, so that sums of products are exact and equals occur
        return torch.from_numpy(rng.integers(-4, 5, shape).astype(np.float32) / 2)

    hidden, weight, bias, own = draw(1, length, WIDTH), draw(N_TERMS, WIDTH), draw(N_TERMS), draw(N_TERMS)
    backbone = Backbone("given", Body(Given(hidden), True), None, None, weight, bias)
    head = SparseHead(weight, bias, own if has_own else None)
    encoder = SparseEncoder(backbone, head, Vocabulary([f"t{n}" for n in range(N_TERMS)]), "random").eval()
    encoder.meta = replace(encoder.meta, pooling=pooling, pooled=pooled_kind, activation=activation)
    mask = torch.ones((1, length), dtype=torch.int64)
    pooled = torch.from_numpy(rng.integers(0, 2, (1, length)))
    held = torch.from_numpy(np.sort(rng.choice(N_TERMS, rng.integers(0, N_TERMS), replace=False)))
    bags = Bags(torch.zeros_like(held), held, draw(len(held)).abs())
    inputs = Inputs(mask, mask, pooled, bags)
    terms = rng.permutation(N_TERMS)[: rng.integers(1, N_TERMS + 1)].astype(np.int32)
    found = trace_terms(encoder, inputs, terms)
    with torch.inference_mode():
        assert found.weights.tolist() == pytest.approx(encoder(*inputs)[0][terms.tolist()].tolist())
    counted = (mask if pooled_kind == "all" else pooled)[0].tolist()
    logits = (hidden[0] @ weight.T + bias).tolist()
    added = dict(zip(held.tolist(), (own[held] * bags.weights).tolist(), strict=True)) if has_own else {}
    for term, position, amount in zip(terms.tolist(), found.positions.tolist(), found.weights.tolist(), strict=True):
        winner, slow = slow_winner([row[term] for row in logits], counted, added.get(term, 0.0), encoder.meta)
        assert amount == pytest.approx(slow)
        assert position == winner


@pytest.fixture(autouse=True)
def full_precision(monkeypatch):
    """Halves of small numbers are exact in any precision; sums of logarithms are not."""
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: False)
