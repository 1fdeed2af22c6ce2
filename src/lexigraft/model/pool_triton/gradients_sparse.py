"""Gradients of pooled maxima where few terms of a text have one: every one of them moves one row to another.

    dH[text, token] += g W[term]      dW[term] += g H[text, token]

A program owns the rows it writes and adds to them in the order of the lists: no atomics, the same bits every time.
"""

import triton
import triton.language as tl
from torch import Tensor

from lexigraft.model.pool_triton.nonzeros import Nonzeros

AT_ONCE = 32  # terms of a text
TEXTS_AT_ONCE = 8  # of a term


def hidden_gradient(
    out: Tensor, gradient: Tensor, token: Tensor, weight: Tensor, found: Nonzeros, precision: str
) -> None:
    """Fill `out` [texts, length, width]."""
    n_texts, length, width = out.shape
    places, columns = min(64, max(16, triton.next_power_of_2(length))), min(256, triton.next_power_of_2(width))
    _hidden_gradient[(n_texts, triton.cdiv(width, columns), triton.cdiv(length, places))](
        out, gradient, token, weight, found.terms, found.of_text, found.of_term, gradient.shape[1], length, width,
        found.blocks, found.room,
        PLACES=places, COLUMNS=columns, AT_ONCE=AT_ONCE, PRECISION=precision, num_warps=4, num_stages=3,
    )  # fmt: skip


def weight_gradient(out: Tensor, gradient: Tensor, token: Tensor, hidden: Tensor, found: Nonzeros) -> None:
    """Fill `out` [terms, width]."""
    _, length, width = hidden.shape
    columns = min(1024, triton.next_power_of_2(width))
    _weight_gradient[(len(out), triton.cdiv(width, columns))](
        out, gradient, token, hidden, found.texts, found.of_term, len(out), length, width, found.room,
        COLUMNS=columns, AT_ONCE=TEXTS_AT_ONCE, num_warps=max(1, min(4, columns // 128)),
    )  # fmt: skip


@triton.jit
def _hidden_gradient(
    out, gradient, token, weight, listed, of_text, of_term, n_terms, length, width, blocks, room,
    PLACES: tl.constexpr, COLUMNS: tl.constexpr, AT_ONCE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) > room:
        return
    text = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    places = tl.program_id(2) * PLACES + tl.arange(0, PLACES)
    begin, end = tl.load(of_text + text * blocks), tl.load(of_text + (text + 1) * blocks)
    total, number = tl.zeros((PLACES, COLUMNS), tl.float32), tl.arange(0, AT_ONCE)
    for start in range(begin, end, AT_ONCE):
        is_there = start + number < end
        terms = tl.load(listed + start + number, mask=is_there, other=0)
        values = tl.load(gradient + text * n_terms + terms, mask=is_there, other=0.0)
        from_places = tl.load(token + text * n_terms + terms, mask=is_there, other=0).to(tl.int32)
        at = weight + terms.to(tl.int64)[:, None] * width + columns[None, :]
        rows = tl.load(at, mask=is_there[:, None] & (columns < width)[None, :], other=0.0).to(tl.float32)
        sent = tl.where(places[:, None] == from_places[None, :], values[None, :], 0.0)
        total = tl.dot(sent, rows, total, input_precision=PRECISION)
    to = out + (text * length + places)[:, None] * width + columns[None, :]
    tl.store(to, total.to(out.dtype.element_ty), mask=(places < length)[:, None] & (columns < width)[None, :])


@triton.jit
def _weight_gradient(
    out, gradient, token, hidden, listed, of_term, n_terms, length, width, room,
    COLUMNS: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) > room:
        return
    term = tl.program_id(0).to(tl.int64)
    columns, number = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS), tl.arange(0, AT_ONCE)
    begin, end = tl.load(of_term + term), tl.load(of_term + term + 1)
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(begin, end, AT_ONCE):
        is_there = start + number < end
        texts = tl.load(listed + start + number, mask=is_there, other=0).to(tl.int64)
        values = tl.load(gradient + texts * n_terms + term, mask=is_there, other=0.0)
        places = tl.load(token + texts * n_terms + term, mask=is_there, other=0).to(tl.int64)
        at = hidden + (texts * length + places)[:, None] * width + columns[None, :]
        rows = tl.load(at, mask=is_there[:, None] & (columns < width)[None, :], other=0.0).to(tl.float32)
        total += tl.sum(values[:, None] * rows, 0)
    tl.store(out + term * width + columns, total.to(out.dtype.element_ty), mask=columns < width)
