"""Binary cross-entropy of many independent terms without all their logits.

    loss = sum over rows i and counted terms j of  log(1 + exp z_ij) - y_ij z_ij,   z = H W^T + b

Rows are taken in blocks that hold a bounded number of logits, and a block's gradients,

    dz = sigmoid(z) - y at counted terms, else 0,   dH = dz W,   dW = sum over blocks of dz^T H,   db = sum of dz

are computed while its logits are there; the backward pass only multiplies. The labels y are given by their ones alone.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lexigraft.train.language.linear_cross_entropy import logits_at_once


class Ones(NamedTuple):
    """The labels that are 1: terms[indptr[i]:indptr[i + 1]] of row i, each once, all of them counted."""

    indptr: Tensor  # on the CPU
    terms: Tensor


def linear_binary_cross_entropy(hidden: Tensor, ones: Ones, counted: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The summed loss of `hidden` [rows, width] by the head `weight` [vocabulary, width], `bias` [vocabulary], with
    gradients to those three. `counted` [vocabulary]: 1.0 for terms that count, 0.0 for others."""
    loss: Tensor = _LinearBinary.apply(hidden, *ones, counted, weight, bias)  # type: ignore[no-untyped-call]
    return loss


def linear_binary_cross_entropy_naive(
    hidden: Tensor, ones: Ones, counted: Tensor, weight: Tensor, bias: Tensor
) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the other is tested against."""
    labels = torch.zeros(len(hidden), len(weight), dtype=hidden.dtype)
    for row in range(len(hidden)):
        labels[row, ones.terms[ones.indptr[row] : ones.indptr[row + 1]]] = 1
    losses = nn.functional.binary_cross_entropy_with_logits(hidden @ weight.T + bias, labels, reduction="none")
    return (losses * counted).sum()


class _LinearBinary(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, indptr: Tensor, terms: Tensor, counted: Tensor, weight: Tensor, bias: Tensor
    ) -> Tensor:
        kind = hidden.device.type
        product = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        exact = torch.promote_types(product, torch.float32)
        loss = torch.zeros((), dtype=exact, device=hidden.device)
        states, rows_of_head = hidden.detach().to(product), weight.detach().to(product)
        gradients = tuple(torch.zeros_like(part, dtype=exact) for part in (hidden, weight, bias))
        at_once = max(1, logits_at_once(hidden.device) // len(weight))
        with torch.autocast(kind, enabled=False):
            for start in range(0, len(hidden), at_once):
                block = slice(start, min(start + at_once, len(hidden)))
                bounds = indptr[block.start : block.stop + 1]
                row = torch.repeat_interleave(torch.arange(len(bounds) - 1), bounds.diff()).to(hidden.device)
                own = terms[bounds[0] : bounds[-1]]
                logits = (states[block] @ rows_of_head.T).to(exact).add_(bias.detach().to(exact))
                loss += nn.functional.softplus(logits).mv(counted.to(exact)).sum() - logits[row, own].sum()
                shares = logits.sigmoid_().mul_(counted)
                shares[row, own] -= 1
                rounded = shares.to(product)
                gradients[0][block] = rounded @ rows_of_head
                gradients[1].add_(rounded.T @ states[block])
                gradients[2].add_(shares.sum(dim=0))
        ctx.save_for_backward(*gradients)
        ctx.types = hidden.dtype, weight.dtype, bias.dtype
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, bias = (
            (part * gradients[0]).to(kind) for part, kind in zip(ctx.saved_tensors, ctx.types, strict=True)
        )
        return hidden, None, None, None, weight, bias
