"""SUM pooling over a large vocabulary without its logits (H4).

    w_j = sum_i f((W h_i + b)_j),   f(x) = log(1 + ReLU(x)),   i over the tokens that are pooled

Every token of every term counts, so f is taken before the sum, and no token can be left out of the gradient. The
forward pass packs the pooled tokens of all texts together and goes through the vocabulary in tiles; the backward pass
computes the logits of a tile again, of those terms alone that have a gradient in some text. Nothing of size [batch,
length, vocabulary] ever exists.
"""

from typing import Any

import torch
from torch import Tensor

from lexigraft.inference.meta import LOG1P
from lexigraft.model.activation import activate, slope
from lexigraft.model.pool_gpu import ALIGNED, GPU_TILE_LOGITS

TILE_LOGITS = 1 << 22  # logits of one tile, all tokens together: 16 MiB in fp32


class _SumOverTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, activation: str) -> Tensor:
        pooled = mask.bool()
        packed, text_of = hidden[pooled], pooled.nonzero()[:, 0]
        exact = torch.promote_types(hidden.dtype, torch.float32)  # sums and results in at least single precision
        total = hidden.new_zeros((len(hidden), len(weight)), dtype=exact)
        tile = _tile(packed)
        for start in range(0, len(weight), tile):
            terms = slice(start, start + tile)
            values = activate(_logits(packed, weight[terms], bias[terms]), activation)
            total[:, terms] = total[:, terms].index_add(0, text_of, values)
        ctx.save_for_backward(hidden, pooled, weight, bias)
        ctx.activation = activation
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor, None]:
        hidden, pooled, weight, bias = ctx.saved_tensors
        (grad,) = gradients
        packed, text_of = hidden[pooled], pooled.nonzero()[:, 0]
        grad_packed = torch.zeros(packed.shape, dtype=grad.dtype, device=grad.device)
        grad_weight = torch.zeros(weight.shape, dtype=grad.dtype, device=grad.device)
        grad_bias = torch.zeros(bias.shape, dtype=grad.dtype, device=grad.device)
        for terms in torch.split((grad != 0).any(0).nonzero().squeeze(1), _tile(packed)):
            rows = weight[terms]
            change = slope(_logits(packed, rows, bias[terms]), ctx.activation) * grad[:, terms][text_of]
            grad_packed += change @ rows.to(grad.dtype)
            grad_weight[terms] = change.T @ packed.to(grad.dtype)
            grad_bias[terms] = change.sum(0)
        grad_hidden = torch.zeros_like(hidden)
        grad_hidden[pooled] = grad_packed.to(hidden.dtype)
        return grad_hidden, None, grad_weight.to(weight.dtype), grad_bias.to(bias.dtype), None


def _tile(packed: Tensor) -> int:
    """Terms whose logits of these tokens are one tile; on a GPU larger ones, of an even width (see `pool_gpu`)."""
    n_tokens = max(1, len(packed))
    if not packed.is_cuda:
        return max(1, TILE_LOGITS // n_tokens)
    return max(ALIGNED, GPU_TILE_LOGITS // n_tokens // ALIGNED * ALIGNED)


def _logits(packed: Tensor, rows: Tensor, bias: Tensor) -> Tensor:
    """[tokens, terms], multiplied in the precision of `packed` in both passes, whatever autocast would make of it."""
    exact = torch.promote_types(packed.dtype, torch.float32)
    products = torch.mm(packed, rows.to(packed.dtype).T, out=packed.new_empty((len(packed), len(rows))))
    return products.to(exact) + bias.to(exact)


def sum_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, activation: str = LOG1P) -> Tensor:
    """The weight of every term [batch, vocabulary], in float32 or better.

    `hidden` [batch, length, width], `mask` [batch, length] (0 where a token is not pooled), `weight` [vocabulary,
    width], `bias` [vocabulary]. A text without a pooled token has 0 everywhere.
    """
    if torch.is_autocast_enabled(hidden.device.type):  # as in `pool.max_over_tokens`
        hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
    total: Tensor = _SumOverTokens.apply(hidden, mask, weight, bias, activation)  # type: ignore[no-untyped-call]
    return total


def sum_over_tokens_naive(
    hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, activation: str = LOG1P
) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the fast one is tested against."""
    values = activate(hidden @ weight.T + bias, activation)
    return (values * mask.bool().unsqueeze(-1)).sum(dim=1)
