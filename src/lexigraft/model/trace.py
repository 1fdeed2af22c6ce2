"""Which token of a text produced a term (E2): of one text and the terms it became, by all their logits.

Of impacts it is the place with the largest one. Where the pooling is max, it is the token whose logit is the largest;
where it is sum, the one whose part is; where it is cls, the text as a whole. What own words add is one part more, and
theirs is the term if it is the largest.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexigraft.inference.network import NOTHING, OWN_WORD, WHOLE_TEXT
from lexigraft.model.activation import activate
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.impact import ImpactHead
from lexigraft.model.inputs import Inputs
from lexigraft.model.precision import fast_precision


class Winners(NamedTuple):
    """Of each term the position of the token that produced it, or OWN_WORD, WHOLE_TEXT or, of a weight of 0, NOTHING;
    and its weight, which is the encoder's."""

    positions: NDArray[np.int32]
    weights: NDArray[np.float32]


@torch.inference_mode()
def trace_terms(encoder: SparseEncoder, inputs: Inputs, terms: NDArray[np.int32], exact: bool = False) -> Winners:
    """What produced each of `terms` in the one text of `inputs`. Logits are of its tokens and these terms alone.
    `exact`: in full precision on every machine."""
    chosen = torch.from_numpy(np.asarray(terms, np.int64)).to(inputs.subwords.device)
    if isinstance(encoder.head, ImpactHead):
        return _trace_impacts(encoder, encoder.head, inputs, chosen, exact)
    logits = _logits(encoder, inputs, chosen, exact)
    own = _own_words(encoder, inputs, chosen)
    is_sum, activation = encoder.meta.pooling == "sum", encoder.meta.activation
    parts = activate(logits, activation) if is_sum else logits  # a token that is not pooled has -inf, so a part of 0
    best, at = parts.max(dim=0).values, torch.from_numpy(parts.cpu().numpy().argmax(axis=0)).to(parts.device)
    said = activate(own, activation) if is_sum else own
    weights = parts.sum(dim=0) + said if is_sum else activate(best + own, activation)
    if encoder.meta.pooling == "cls":
        at = torch.full_like(at, WHOLE_TEXT)
    at = torch.where((said > 0) & (said >= best), OWN_WORD, at)
    at = torch.where(weights > 0, at, NOTHING)
    return Winners(at.cpu().numpy().astype(np.int32), weights.cpu().numpy().astype(np.float32))


def _trace_impacts(
    encoder: SparseEncoder, head: ImpactHead, inputs: Inputs, terms: Tensor, exact: bool
) -> Winners:  # fmt: skip
    subwords, mask = inputs.subwords[0], inputs.mask
    with fast_precision(subwords.device, enabled=not exact):
        impacts = head(encoder.body(inputs.subwords, mask))[0]
    there = (subwords.unsqueeze(1) == terms.unsqueeze(0)) & head.terms_at(subwords, mask[0]).unsqueeze(1)
    parts = torch.where(there, impacts.unsqueeze(1), 0.0)  # [tokens, terms]
    weights = parts.max(dim=0).values.cpu().numpy()
    at = np.where(weights > 0, parts.cpu().numpy().argmax(axis=0), NOTHING)
    return Winners(at.astype(np.int32), weights.astype(np.float32))


def _logits(encoder: SparseEncoder, inputs: Inputs, terms: Tensor, exact: bool) -> Tensor:
    """[tokens, terms], -inf at tokens that are not pooled; in the precision that the encoder multiplies with."""
    device = inputs.subwords.device
    with fast_precision(device, enabled=not exact):
        hidden = encoder.body(inputs.subwords, inputs.mask)[0]
        if torch.is_autocast_enabled(device.type):
            hidden = hidden.to(torch.get_autocast_dtype(device.type))
    pooled = encoder.pooled_tokens(inputs.mask, inputs.pooled)[0].bool()
    if encoder.meta.pooling == "cls":
        hidden, pooled = hidden[:1], pooled.any(0, keepdim=True)
    logits: Tensor = (hidden @ encoder.head.weight[terms].to(hidden.dtype).T).float() + encoder.head.bias[terms].float()
    return logits.masked_fill(~pooled.unsqueeze(-1), float("-inf"))


def _own_words(encoder: SparseEncoder, inputs: Inputs, terms: Tensor) -> Tensor:
    """What the text's own words add to each term."""
    added = torch.zeros(len(encoder.vocabulary), device=terms.device)
    if encoder.head.own is not None:
        added[inputs.bags.terms] = (encoder.head.own[inputs.bags.terms] * inputs.bags.weights).float()
    return added[terms]
