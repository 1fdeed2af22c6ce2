"""Layer normalisation, forward and backward, by kernels of our own on a GPU: each reads its rows once.

    y = x' * weight + bias,  x' = (x - mean) * scale,  scale = 1 / sqrt(variance + epsilon)

    dx = (g - mean(g) - x' * mean(g * x')) * scale,  g = dy * weight;  dweight = sum(dy * x');  dbias = sum(dy)

In torch's backward pass the gradients of weight and bias are sums over rows by a kernel that leaves most of a GPU idle.
Here a fixed number of programs go over the rows with sums of their own, added in the same order every time.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

AT_ONCE = 2048  # numbers of some rows together
PROGRAMS = 528  # that add up gradients of weight and bias


def layer_norm(values: Tensor, weight: Tensor, bias: Tensor | None, epsilon: float, kind: torch.dtype) -> Tensor:
    """`values` [..., width], each row normalised, as numbers of `kind`. Computed in float32."""
    found: Tensor = _LayerNorm.apply(values, weight, bias, epsilon, kind)
    return found


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None, epsilon: float, kind: torch.dtype
    ) -> Tensor:
        rows = values.reshape(-1, values.shape[-1]).contiguous()
        n_rows, width = rows.shape
        found = torch.empty(values.shape, dtype=kind, device=rows.device)  # no view, which nobody may change in place
        means, scales = torch.empty((2, n_rows), dtype=torch.float32, device=rows.device)
        if n_rows:
            tile = _tile(width)
            _normalise[(triton.cdiv(n_rows, tile["ROWS"]),)](
                rows, weight, bias, found, means, scales, n_rows, width, epsilon, **tile
            )
        ctx.save_for_backward(rows, weight, means, scales)
        ctx.has_bias = bias is not None
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight, means, scales = ctx.saved_tensors
        n_rows, width = rows.shape
        given = gradients[0].reshape(rows.shape).contiguous()
        tile = _tile(width)
        n_programs = min(PROGRAMS, triton.cdiv(n_rows, tile["ROWS"]))
        of_rows = torch.empty_like(rows)
        sums = torch.empty((n_programs, 2, width), dtype=torch.float32, device=rows.device)
        if n_rows:
            _differentiate[(n_programs,)](
                given, rows, weight, means, scales, of_rows, sums, n_rows, width, n_programs, **tile
            )
        of_weight, of_bias = sums.sum(0).to(weight.dtype)
        return of_rows.view(gradients[0].shape), of_weight, of_bias if ctx.has_bias else None, None, None


def _tile(width: int) -> dict[str, int]:
    power = triton.next_power_of_2(width)
    return {"ROWS": max(1, AT_ONCE // power), "WIDTH": power, "num_warps": 4 if power <= AT_ONCE else 8}


@triton.jit(do_not_specialize=["n_rows"])
def _normalise(
    values, weight, bias, out, means, scales, n_rows, width, epsilon, ROWS: tl.constexpr, WIDTH: tl.constexpr
):  # fmt: skip
    row, column = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    is_row, is_column = row < n_rows, column < width
    known = is_row[:, None] & is_column[None, :]
    at = row.to(tl.int64)[:, None] * width + column[None, :]
    x = tl.load(values + at, mask=known, other=0.0).to(tl.float32)
    mean = tl.sum(x, 1) / width
    x = tl.where(known, x - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, 1) / width + epsilon)
    y = x * scale[:, None] * tl.load(weight + column, mask=is_column, other=0.0).to(tl.float32)[None, :]
    if bias is not None:
        y += tl.load(bias + column, mask=is_column, other=0.0).to(tl.float32)[None, :]
    tl.store(out + at, y.to(out.dtype.element_ty), mask=known)
    tl.store(means + row, mean, mask=is_row)
    tl.store(scales + row, scale, mask=is_row)


@triton.jit(do_not_specialize=["n_rows", "n_programs"])
def _differentiate(
    given, values, weight, means, scales, out, sums, n_rows, width, n_programs,
    ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    program, column = tl.program_id(0), tl.arange(0, WIDTH)
    is_column = column < width
    factor = tl.load(weight + column, mask=is_column, other=0.0).to(tl.float32)
    of_weight, of_bias = tl.zeros((ROWS, WIDTH), tl.float32), tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(program * ROWS, n_rows, n_programs * ROWS):
        row = start + tl.arange(0, ROWS)
        is_row = row < n_rows
        known = is_row[:, None] & is_column[None, :]
        at = row.to(tl.int64)[:, None] * width + column[None, :]
        mean, scale = tl.load(means + row, mask=is_row, other=0.0), tl.load(scales + row, mask=is_row, other=0.0)
        x = tl.load(values + at, mask=known, other=0.0).to(tl.float32)
        x = tl.where(known, (x - mean[:, None]) * scale[:, None], 0.0)
        dy = tl.load(given + at, mask=known, other=0.0).to(tl.float32)
        of_weight += dy * x
        of_bias += dy
        g = dy * factor[None, :]
        dx = (g - (tl.sum(g, 1) / width)[:, None] - x * (tl.sum(g * x, 1) / width)[:, None]) * scale[:, None]
        tl.store(out + at, dx.to(out.dtype.element_ty), mask=known)
    at = sums + program * 2 * width + column
    tl.store(at, tl.sum(of_weight, 0), mask=is_column)
    tl.store(at + width, tl.sum(of_bias, 0), mask=is_column)
