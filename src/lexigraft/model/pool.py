"""MAX pooling over a large vocabulary without its logits (H4, H7).

    w_j = log(1 + ReLU(max_i (W h_i + b)_j)),   i over the tokens that are pooled

ReLU and log1p grow with their argument, so the maximum is taken first and they are applied once per term. The forward
pass packs the pooled tokens of all texts together, goes through the vocabulary in tiles and keeps of each only the
maximum. Which token it came from matters only for terms with a gradient, after top-k masks a few hundred of them, so
the backward pass finds it again for those alone. Nothing of size [batch, length, vocabulary] ever exists.
"""

import warnings
from typing import Any

import torch
from torch import Tensor

from lexigraft.model.pool_gpu import GPU_TILE_LOGITS, fill_rectangle, rectangle_gradients
from lexigraft.model.pool_sparse import sparse_gradients

TILE_LOGITS = 1 << 22  # logits of one tile, all tokens together: 16 MiB in fp32
GPU_TILE_NUMBERS = 1 << 28  # of the rows and logits that a GPU looks at together to find tokens
SPARSE, SPARSE_ON_GPU = 0.3, 0.03  # up to these shares of terms with a gradient, whole rectangles are slower

warnings.filterwarnings("ignore", "index_reduce", UserWarning)  # "beta": its tests against the twin are ours


class _MaxOverTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        n_terms, pooled = weight.shape[0], mask.bool()
        exact = torch.promote_types(hidden.dtype, torch.float32)  # sums and results in at least single precision
        best = hidden.new_empty((len(hidden), n_terms), dtype=exact)
        fill = fill_rectangle if hidden.is_cuda else fill_packed
        fill(best, hidden, pooled, weight, bias)
        ctx.save_for_backward(hidden, pooled, weight)
        ctx.bias_dtype = bias.dtype
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        hidden, pooled, weight = ctx.saved_tensors
        (grad,) = gradients
        share = torch.count_nonzero(grad) / max(1, grad.numel())
        if share < (SPARSE_ON_GPU if hidden.is_cuda else SPARSE):
            numbers = GPU_TILE_NUMBERS if hidden.is_cuda else TILE_LOGITS
            grad_hidden, grad_weight = sparse_gradients(grad, hidden, pooled, weight, numbers)
        else:
            logits = GPU_TILE_LOGITS if hidden.is_cuda else TILE_LOGITS
            grad_hidden, grad_weight = rectangle_gradients(grad, hidden, pooled, weight, logits)
        return grad_hidden.to(hidden.dtype), None, grad_weight.to(weight.dtype), grad.sum(0).to(ctx.bias_dtype)


def fill_packed(best: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, bias: Tensor) -> None:
    """Only the tokens that are pooled, packed together: a CPU multiplies no padding."""
    packed = hidden[pooled]  # [tokens, width]
    text_of = pooled.nonzero()[:, 0]
    tile = min(max(64, TILE_LOGITS // max(1, len(packed))), len(weight))
    logits = packed.new_empty((len(packed), tile))  # one piece of memory for all tiles
    for start in range(0, len(weight), tile):
        rows = weight[start : start + tile].to(hidden.dtype)
        here = logits if len(rows) == tile else packed.new_empty((len(packed), len(rows)))
        torch.mm(packed, rows.T, out=here)
        largest = here.new_full((len(hidden), len(rows)), float("-inf"))
        largest.index_reduce_(0, text_of, here, "amax")
        best[:, start : start + tile] = largest.to(best.dtype) + bias[start : start + tile].to(best.dtype)


def max_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary], in float32 or better.

    `hidden` [batch, length, width], `mask` [batch, length] (0 where a token is not pooled), `weight` [vocabulary,
    width], `bias` [vocabulary]. A text without a pooled token has -inf everywhere.
    """
    if torch.is_autocast_enabled(hidden.device.type):  # a layer norm hands on float32; products take half the bits
        hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
    best: Tensor = _MaxOverTokens.apply(hidden, mask, weight, bias)  # type: ignore[no-untyped-call]
    return best


def saturate(best: Tensor) -> Tensor:
    """log(1 + ReLU(x)): logits to term weights."""
    return torch.log1p(torch.relu(best))


def max_over_tokens_naive(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the fast one is tested and measured against."""
    logits = hidden @ weight.T + bias
    return logits.masked_fill(~mask.bool().unsqueeze(-1), float("-inf")).max(dim=1).values
