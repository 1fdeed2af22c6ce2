"""The passes over a block of logits that a cross-entropy needs beside its products, by kernels of our own on a GPU.

Two: one reads the logits for the sums of their rows, one writes the gradient in their place. Written with torch's
operations they are ten. Every sum has a fixed order.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

AT_ONCE = 4096  # columns of a row
ROWS, COLUMNS = 32, 128  # of a tile


class RowSums(NamedTuple):
    """By row: the loss, the logarithm of the sum of exp(logit), and 1 where the label has the first of the highest."""

    losses: Tensor
    log_sums: Tensor
    is_right: Tensor


def sum_rows(logits: Tensor, bias: Tensor, labels: Tensor) -> RowSums:
    """Of `logits` [rows, terms], to which `bias` [terms] is yet to be added."""
    rows, terms = logits.shape
    losses, log_sums, is_right = (torch.empty(rows, dtype=torch.float32, device=logits.device) for _ in range(3))
    if rows:
        _sum_rows[(rows,)](logits, bias, labels, losses, log_sums, is_right, terms, AT_ONCE=AT_ONCE, num_warps=8)
    return RowSums(losses, log_sums, is_right)


def write_shares(logits: Tensor, bias: Tensor, labels: Tensor, log_sums: Tensor, scale: float, sums: Tensor) -> None:
    """Overwrite `logits` by (softmax - onehot(label)) * `scale`, and add the sum of every column to `sums` [terms]."""
    rows, terms = logits.shape
    if rows:
        _write_shares[(triton.cdiv(terms, COLUMNS),)](
            logits, bias, labels, log_sums, sums, scale, rows, terms, ROWS=ROWS, COLUMNS=COLUMNS, num_warps=4
        )


@triton.jit
def _sum_rows(logits, bias, labels, losses, log_sums, is_right, terms, AT_ONCE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, AT_ONCE)
    top = tl.full((AT_ONCE,), float("-inf"), tl.float32)
    total, first = tl.zeros((AT_ONCE,), tl.float32), tl.zeros((AT_ONCE,), tl.int32)
    for start in range(0, terms, AT_ONCE):
        known = start + column < terms
        values = tl.load(logits + row * terms + start + column, mask=known, other=float("-inf")).to(tl.float32)
        values += tl.load(bias + start + column, mask=known, other=0.0)
        first = tl.where(values > top, start + column, first)
        larger = tl.maximum(top, values, propagate_nan=tl.PropagateNan.ALL)
        base = tl.where(larger == float("-inf"), 0.0, larger)  # -inf - -inf would be no number
        total = total * tl.exp(top - base) + tl.where(known, tl.exp(values - base), 0.0)
        top = larger
    highest = tl.max(top, 0)
    sums = tl.sum(tl.where(total > 0, total * tl.exp(top - highest), total), 0)
    label = tl.load(labels + row)
    best = tl.min(tl.where(top == highest, first, terms), 0)
    own = tl.load(logits + row * terms + label).to(tl.float32) + tl.load(bias + label)
    log_sum = highest + tl.log(sums)
    tl.store(losses + row, log_sum - own)
    tl.store(log_sums + row, log_sum)
    tl.store(is_right + row, tl.where(best == label, 1.0, 0.0))


@triton.jit
def _write_shares(
    logits, bias, labels, log_sums, sums, scale, rows, terms, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):  # fmt: skip
    columns, row = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS), tl.arange(0, ROWS)
    shift = tl.load(bias + columns, mask=columns < terms, other=0.0)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, rows, ROWS):
        here = start + row
        known = (here < rows)[:, None] & (columns < terms)[None, :]
        at = logits + here.to(tl.int64)[:, None] * terms + columns[None, :]
        log_sum = tl.load(log_sums + here, mask=here < rows, other=0.0)
        label = tl.load(labels + here, mask=here < rows, other=-1)
        values = tl.load(at, mask=known, other=0.0).to(tl.float32) + shift[None, :]
        share = tl.exp(values - log_sum[:, None]) - tl.where(label[:, None] == columns[None, :], 1.0, 0.0)
        share = tl.where(known, share * scale, 0.0)
        total += tl.sum(share, 0)
        tl.store(at, share.to(logits.dtype.element_ty), mask=known)
    before = tl.load(sums + columns, mask=columns < terms, other=0.0)
    tl.store(sums + columns, before + total, mask=columns < terms)
