"""MAX pooling in tiles of torch's own products, on any device (see `pool` for what is computed).

The forward pass packs the pooled tokens of all texts together, goes through the vocabulary in tiles and keeps of each
only the maximum. Which token it came from matters only for terms with a gradient, after top-k masks a few hundred of
them, so the backward pass finds it again for those alone. Nothing of size [batch, length, vocabulary] ever exists.
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


def max_over_tokens_tiled(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary]; the arguments are those of `pool.max_over_tokens`."""
    best: Tensor = _MaxOverTokens.apply(hidden, mask, weight, bias)  # type: ignore[no-untyped-call]
    return best
