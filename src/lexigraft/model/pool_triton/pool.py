"""MAX pooling on a GPU by kernels of our own: forward, the tokens, and both gradients (see `model.pool` for what).

The product, the bias, the running maximum and its token stay on chip, a tile at a time, over packed tokens without
padding. The backward pass takes the tokens as given and touches only what has a gradient, by one of two ways, which the
device chooses for itself: nothing here waits for it. All sums have a fixed order.
"""

from typing import Any

import torch
from torch import Tensor, nn

from lexigraft.model.pool_triton import gradients_dense, gradients_sparse
from lexigraft.model.pool_triton.maxima import MOST_SLOTS, Listed, fill_maxima, list_maxima
from lexigraft.model.pool_triton.nonzeros import find_nonzeros
from lexigraft.model.pool_triton.packing import WIDTHS, pack


def max_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary] in float32, multiplied in the precision of `hidden`."""
    (hidden, weight), bias = _wide(hidden, weight), bias.contiguous()
    if torch.is_grad_enabled() and any(part.requires_grad for part in (hidden, weight, bias)):
        best: Tensor = _MaxOverTokens.apply(hidden, mask, weight, bias)
        return best
    return _forward(hidden, mask.bool(), weight.to(hidden.dtype).contiguous(), bias, with_tokens=False)[0]


def list_weights(
    hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, above: float, twice: bool, room: int
) -> Listed:
    """Each text's terms that weigh more than `above`, by log(1 + ReLU) of their largest logits, `twice` or once; in no
    order, and without any [batch, vocabulary]. Counts may say more than there is `room` for."""
    (n_texts, length, _), device = hidden.shape, hidden.device
    (hidden, weight), bias = _wide(hidden, weight), bias.contiguous()
    terms = torch.empty((n_texts, room), dtype=torch.int32, device=device)
    counts = torch.zeros(n_texts, dtype=torch.int32, device=device)
    listed = Listed(counts, terms, torch.empty_like(terms, dtype=torch.float32))
    if terms.numel() and length:
        packed = pack(hidden.contiguous(), mask.bool().contiguous(), MOST_SLOTS)
        rows = weight.to(hidden.dtype).contiguous()
        list_maxima(listed, packed, rows, bias, length, precision_of(hidden.dtype), above, twice)
    return listed


def _wide(hidden: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """As wide as kernels read: filled up with zeros, which add nothing to a product."""
    spare = -hidden.shape[2] % WIDTHS
    return (nn.functional.pad(hidden, (0, spare)), nn.functional.pad(weight, (0, spare))) if spare else (hidden, weight)


def precision_of(dtype: torch.dtype) -> str:
    """How products in float32 are made: as the rest of torch makes them on this device."""
    return "ieee" if dtype == torch.float32 and torch.get_float32_matmul_precision() == "highest" else "tf32"


class _MaxOverTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        hidden, rows = hidden.contiguous(), weight.to(hidden.dtype).contiguous()
        best, token = _forward(hidden, mask.bool(), rows, bias, with_tokens=True)
        ctx.save_for_backward(hidden, rows, token)
        ctx.types = weight.dtype, bias.dtype
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, None, Tensor | None, Tensor | None]:
        hidden, rows, token = ctx.saved_tensors
        of_weight_type, of_bias_type = ctx.types
        wants_hidden, _, wants_weight, wants_bias = ctx.needs_input_grad
        if not hidden.numel() or not len(rows):
            of_bias = torch.zeros(len(rows), dtype=of_bias_type, device=rows.device)
            return torch.zeros_like(hidden), None, torch.zeros_like(rows, dtype=of_weight_type), of_bias
        gradient, precision = gradients[0].float().contiguous(), precision_of(hidden.dtype)
        found = find_nonzeros(gradient)
        of_hidden = of_weight = None
        if wants_hidden:
            of_hidden = torch.empty_like(hidden)
            gradients_sparse.hidden_gradient(of_hidden, gradient, token, rows, found, precision)
            gradients_dense.hidden_gradient(of_hidden, gradient, token, rows, found, precision)
        if wants_weight:
            of_weight = hidden.new_empty((gradient.shape[1], hidden.shape[2]), dtype=of_weight_type)
            gradients_sparse.weight_gradient(of_weight, gradient, token, hidden, found)
            gradients_dense.weight_gradient(of_weight, gradient, token, hidden, found, precision)
        return of_hidden, None, of_weight, found.sums.to(of_bias_type) if wants_bias else None


def _forward(
    hidden: Tensor, pooled: Tensor, rows: Tensor, bias: Tensor, with_tokens: bool
) -> tuple[Tensor, Tensor | None]:
    n_texts, length, _ = hidden.shape
    best = hidden.new_empty((n_texts, len(rows)), dtype=torch.float32)
    token = hidden.new_empty(best.shape, dtype=_kind_of_places(length)) if with_tokens else None
    if best.numel() and length:
        packed = pack(hidden.contiguous(), pooled.contiguous(), MOST_SLOTS)
        fill_maxima(best, token, packed, rows, bias, length, precision_of(hidden.dtype))
    else:
        best.fill_(float("-inf"))
    return best, token


def _kind_of_places(length: int) -> torch.dtype:
    return torch.uint8 if length <= 256 else torch.int16 if length <= 1 << 15 else torch.int32
