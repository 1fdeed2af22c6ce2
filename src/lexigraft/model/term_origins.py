"""The heaviest terms of a batch of texts, and of each the token that brought it.

What `model.trace` says of one text to a person, for many texts at once: only the rows of the head that belong to the
kept terms are multiplied again.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from lexigraft.core.array_types import Float32s, Int64s
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.impact import ImpactHead
from lexigraft.model.inputs import Inputs
from lexigraft.model.precision import fast_precision
from lexigraft.vocab.lookup import SMALLEST_WEIGHT


class HeavyTerms(NamedTuple):
    """Entry i: term terms[i] of text rows[i] weighs weights[i], and the token at positions[i] has its largest logit.
    Rows ascend."""

    rows: Int64s
    terms: Int64s
    positions: Int64s
    weights: Float32s


def names_tokens(encoder: SparseEncoder) -> bool:
    """Whether a model's terms come from single tokens: a head of impacts adds no terms, and CLS speaks for the text."""
    return not isinstance(encoder.head, ImpactHead) and encoder.meta.pooling != "cls"


@torch.inference_mode()
def heaviest_terms(encoder: SparseEncoder, inputs: Inputs, keep: int) -> HeavyTerms:
    """The `keep` heaviest terms of each text. Where no single token brings a term (`names_tokens`), its position is 0.

    What own words add to a logit is part of a weight, but of no token's logit."""
    device = inputs.subwords.device
    with fast_precision(device):
        weights = encoder(*inputs).float()
    values, terms = weights.topk(min(keep, weights.shape[1]), dim=1)
    positions = _largest_logits(encoder, inputs, terms) if names_tokens(encoder) else torch.zeros_like(terms)
    rows, places = (values > SMALLEST_WEIGHT).nonzero(as_tuple=True)
    found = (rows, terms[rows, places], positions[rows, places], values[rows, places])
    return HeavyTerms(*(part.cpu().numpy() for part in found))


def _largest_logits(encoder: SparseEncoder, inputs: Inputs, terms: Tensor) -> Tensor:
    """Of terms [texts, places], the position of the pooled token with the largest logit."""
    device = inputs.subwords.device
    with fast_precision(device):
        hidden = encoder.body(inputs.subwords, inputs.mask)
        if torch.is_autocast_enabled(device.type):
            hidden = hidden.to(torch.get_autocast_dtype(device.type))
        rows = encoder.head.weight[terms].to(hidden.dtype)  # [texts, places, width]
        logits = torch.bmm(hidden, rows.transpose(1, 2))  # the bias is that of the term, whatever the token
    pooled = encoder.pooled_tokens(inputs.mask, inputs.pooled).bool()
    return logits.masked_fill(~pooled.unsqueeze(-1), float("-inf")).argmax(dim=1)
