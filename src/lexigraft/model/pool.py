"""MAX pooling over a large vocabulary without its logits (H4, H7).

    w_j = log(1 + ReLU(max_i (W h_i + b)_j)),   i over the tokens that are pooled

ReLU and log1p grow with their argument, so the maximum is taken first and they are applied once per term. On a GPU that
is done by kernels of our own (`pool_triton`); where these cannot run, and on a CPU, in tiles of torch's products
(`pool_tiled`). Nothing of size [batch, length, vocabulary] ever exists.
"""

import torch
from torch import Tensor

from lexigraft.model.kernels import kernels_for
from lexigraft.model.pool_tiled import max_over_tokens_tiled


def max_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary], in float32 or better.

    `hidden` [batch, length, width], `mask` [batch, length] (0 where a token is not pooled), `weight` [vocabulary,
    width], `bias` [vocabulary]. A text without a pooled token has -inf everywhere.
    """
    if torch.is_autocast_enabled(hidden.device.type):  # a layer norm hands on float32; products take half the bits
        hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
    kernels = kernels_for(hidden)
    pool = max_over_tokens_tiled if kernels is None else kernels.max_over_tokens
    return pool(hidden, mask, weight, bias)


def saturate(best: Tensor) -> Tensor:
    """log(1 + ReLU(x)): logits to term weights."""
    return torch.log1p(torch.relu(best))


def max_over_tokens_naive(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the fast one is tested and measured against."""
    logits = hidden @ weight.T + bias
    return logits.masked_fill(~mask.bool().unsqueeze(-1), float("-inf")).max(dim=1).values
