"""MAX pooling over a large vocabulary without its logits (H4, H7).

    w_j = log(1 + ReLU(max_i (W h_i + b)_j)),   i over the tokens that are not padding

ReLU and log1p grow with their argument, so the maximum is taken first and they are applied once per term. The forward
pass goes through the vocabulary in tiles and keeps of each only the maximum and the token it came from; the backward
pass sends each term's gradient to that token alone, and touches only terms whose gradient is not zero. Nothing of size
[batch, length, vocabulary] ever exists.
"""

from typing import Any

import torch
from torch import Tensor

TILE_LOGITS = 1 << 22  # logits of one tile, all tokens together: 16 MiB in fp32


class _MaxOverTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = hidden.shape
        n_terms = weight.shape[0]
        exact = torch.promote_types(hidden.dtype, torch.float32)  # sums and results in at least single precision
        best = hidden.new_empty((batch, n_terms), dtype=exact)
        token = torch.empty((batch, n_terms), dtype=torch.int32, device=hidden.device)
        flat = hidden.reshape(-1, width)
        shut = torch.zeros((batch, length, 1), dtype=hidden.dtype, device=hidden.device)
        shut.masked_fill_(~mask.bool().unsqueeze(-1), float("-inf"))
        tile = max(64, TILE_LOGITS // max(1, batch * length))
        for start in range(0, n_terms, tile):
            rows = weight[start : start + tile].to(hidden.dtype)
            logits = (flat @ rows.T).view(batch, length, -1)
            value, where = (logits + shut).max(dim=1)
            best[:, start : start + tile] = value.to(exact) + bias[start : start + tile].to(exact)
            token[:, start : start + tile] = where
        ctx.save_for_backward(hidden, weight, token)
        ctx.bias_dtype = bias.dtype
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        hidden, weight, token = ctx.saved_tensors
        (grad,) = gradients
        _, length, width = hidden.shape
        rows, terms = grad.nonzero(as_tuple=True)
        tokens = rows * length + token[rows, terms]
        values = grad[rows, terms].unsqueeze(1)
        flat = hidden.reshape(-1, width)
        grad_hidden = torch.zeros(flat.shape, dtype=grad.dtype, device=hidden.device)
        grad_weight = torch.zeros(weight.shape, dtype=grad.dtype, device=weight.device)
        step = max(1, TILE_LOGITS // width)
        for start in range(0, len(rows), step):  # gathered rows of width D, a bounded number at a time
            piece = slice(start, start + step)
            grad_hidden.index_add_(0, tokens[piece], values[piece] * weight[terms[piece]].to(grad.dtype))
            grad_weight.index_add_(0, terms[piece], values[piece] * flat[tokens[piece]].to(grad.dtype))
        return (
            grad_hidden.view(hidden.shape).to(hidden.dtype),
            None,
            grad_weight.to(weight.dtype),
            grad.sum(0).to(ctx.bias_dtype),
        )


def max_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary], in float32 or better.

    `hidden` [batch, length, width], `mask` [batch, length] (0 at padding), `weight` [vocabulary, width], `bias`
    [vocabulary]. Ties go to the first token, as `torch.max` gives them.
    """
    best: Tensor = _MaxOverTokens.apply(hidden, mask, weight, bias)  # type: ignore[no-untyped-call]
    return best


def saturate(best: Tensor) -> Tensor:
    """log(1 + ReLU(x)): logits to term weights."""
    return torch.log1p(torch.relu(best))


def max_over_tokens_naive(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the fast one is tested and measured against."""
    logits = hidden @ weight.T + bias
    return logits.masked_fill(~mask.bool().unsqueeze(-1), float("-inf")).max(dim=1).values
