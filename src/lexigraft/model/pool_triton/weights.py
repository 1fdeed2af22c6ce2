"""From the largest logits to term weights in one pass, and back: the own words added, then the activation, in place.

The slope follows from the weight itself, so that nothing but the weights is kept for the backward pass:

    w = log(1 + x)           dw/dx = exp(-w)
    w = log(1 + log(1 + x))  dw/dx = exp(-w) exp(-u),  u = exp(w) - 1
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lexigraft.model.pool_triton.activation import activated

BLOCK = 4096


def term_weights(
    logits: Tensor, own: Tensor | None, rows: Tensor, terms: Tensor, amounts: Tensor, twice: bool
) -> Tensor:
    """`logits` [texts, terms] in float32, overwritten by the weights; where `own` [terms] is given, own[t] * amount is
    added to the logit of each (row, term) of the own words before, each pair once. `twice`: the logarithm twice."""
    weights: Tensor = _TermWeights.apply(logits, own, rows, terms, amounts, twice)
    return weights


class _TermWeights(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, own: Tensor | None, rows: Tensor, terms: Tensor, amounts: Tensor, twice: bool
    ) -> Tensor:
        if own is not None:
            said = logits[rows, terms] + own[terms] * amounts
            logits.index_put_((rows, terms), said)
        n = logits.numel()
        if n:
            _activate[(triton.cdiv(n, BLOCK),)](logits, n, TWICE=twice, BLOCK=BLOCK)
        ctx.mark_dirty(logits)
        ctx.save_for_backward(logits, rows, terms, amounts)
        ctx.twice, ctx.n_own = twice, 0 if own is None else len(own)
        return logits

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weights, rows, terms, amounts = ctx.saved_tensors
        given = gradients[0].contiguous()
        of_logits = torch.empty_like(given)
        n, of_own = given.numel(), None
        if n:
            _slope[(triton.cdiv(n, BLOCK),)](of_logits, given, weights, n, TWICE=ctx.twice, BLOCK=BLOCK)
        if ctx.needs_input_grad[1]:
            of_own = given.new_zeros(ctx.n_own)
            of_own.index_put_((terms,), of_logits[rows, terms] * amounts, accumulate=True)  # sorted: no atomics
        return of_logits, of_own, None, None, None, None


@triton.jit
def _activate(values, n, TWICE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(values + at, mask=at < n, other=0.0)
    tl.store(values + at, activated(x, TWICE), mask=at < n)


@triton.jit
def _slope(out, gradient, weights, n, TWICE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    weight = tl.load(weights + at, mask=at < n, other=0.0)
    slope = tl.exp(-weight)
    if TWICE:
        slope = slope * tl.exp(-(tl.exp(weight) - 1))
    given = tl.load(gradient + at, mask=at < n, other=0.0)
    tl.store(out + at, tl.where(weight == 0, 0.0, given * slope), mask=at < n)
