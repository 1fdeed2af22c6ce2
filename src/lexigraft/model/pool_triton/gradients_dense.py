"""Gradients of pooled maxima where many terms of a text have one: two matrix products with a matrix of one number a
column, which is made on chip from the gradient and the tokens.

    S[text, token, term] = g[text, term] where the term's largest logit came from the token, else 0
    dH[text, token] = sum over terms of S W      dW[term] = sum over tokens of S^T H
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from lexigraft.model.pool_triton.nonzeros import Nonzeros

ROWS = 128  # tokens of a program, of one text or several
COLUMNS = 256


def hidden_gradient(
    out: Tensor, gradient: Tensor, token: Tensor, weight: Tensor, found: Nonzeros, precision: str
) -> None:
    """Fill `out` [texts, length, width]; `weight` may be wider."""
    n_texts, length, width = out.shape
    places = min(ROWS, max(16, triton.next_power_of_2(length)))
    texts, full = ROWS // places, weight.dtype == torch.float32
    columns = min(64 if full else COLUMNS, max(16, triton.next_power_of_2(width)))
    grid = triton.cdiv(width, columns), triton.cdiv(n_texts, texts), triton.cdiv(length, places)
    _hidden_gradient[grid](
        out, gradient, token, weight, found.of_term, n_texts, gradient.shape[1], length, width, weight.shape[1],
        found.room, TEXTS=texts, PLACES=places, TERMS=32 if full else 64, COLUMNS=columns, PRECISION=precision,
        num_warps=8, num_stages=3,
    )  # fmt: skip


def weight_gradient(
    out: Tensor, gradient: Tensor, token: Tensor, hidden: Tensor, found: Nonzeros, precision: str
) -> None:
    """Fill `out` [terms, width]."""
    n_texts, length, width = hidden.shape
    full = hidden.dtype == torch.float32
    columns = min(64 if full else COLUMNS, max(16, triton.next_power_of_2(width)))
    places = min(32 if full else 64, max(16, triton.next_power_of_2(length)))
    _weight_gradient[(triton.cdiv(width, columns), triton.cdiv(len(out), ROWS))](
        out, gradient, token, hidden, found.of_term, n_texts, len(out), length, width, found.room,
        TERMS=ROWS, PLACES=places, COLUMNS=columns, PRECISION=precision, num_warps=8, num_stages=3,
    )  # fmt: skip


@triton.jit
def _hidden_gradient(
    out, gradient, token, weight, of_term, n_texts, n_terms, length, width, weight_width, room,
    TEXTS: tl.constexpr, PLACES: tl.constexpr, TERMS: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) <= room:
        return
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    texts = (tl.program_id(1) * TEXTS + tl.arange(0, TEXTS)).to(tl.int64)
    places = tl.program_id(2) * PLACES + tl.arange(0, PLACES)
    total = tl.zeros((TEXTS * PLACES, COLUMNS), tl.float32)
    for start in range(0, n_terms, TERMS):
        terms = start + tl.arange(0, TERMS)
        known = (texts < n_texts)[:, None] & (terms < n_terms)[None, :]
        at = texts[:, None] * n_terms + terms[None, :]
        values = tl.load(gradient + at, mask=known, other=0.0).to(weight.dtype.element_ty)
        from_places = tl.load(token + at, mask=known, other=0).to(tl.int32)
        is_from = places[None, :, None] == tl.expand_dims(from_places, 1)
        sent = tl.where(is_from, tl.expand_dims(values, 1), 0.0)
        sent = tl.reshape(sent, (TEXTS * PLACES, TERMS)).to(weight.dtype.element_ty)
        at_rows = weight + terms.to(tl.int64)[:, None] * weight_width + columns[None, :]
        rows = tl.load(at_rows, mask=(terms < n_terms)[:, None] & (columns < width)[None, :], other=0.0)
        total = tl.dot(sent, rows, total, input_precision=PRECISION)
    row = tl.arange(0, TEXTS * PLACES)
    text = (tl.program_id(1) * TEXTS + row // PLACES).to(tl.int64)
    place = tl.program_id(2) * PLACES + row % PLACES
    to = out + (text * length + place)[:, None] * width + columns[None, :]
    is_row = place < tl.where(text < n_texts, length, 0)
    tl.store(to, total.to(out.dtype.element_ty), mask=is_row[:, None] & (columns < width)[None, :])


@triton.jit
def _weight_gradient(
    out, gradient, token, hidden, of_term, n_texts, n_terms, length, width, room,
    TERMS: tl.constexpr, PLACES: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) <= room:
        return
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    terms = tl.program_id(1) * TERMS + tl.arange(0, TERMS)
    total, place = tl.zeros((TERMS, COLUMNS), tl.float32), tl.arange(0, PLACES)
    blocks = tl.cdiv(length, PLACES)
    for step in range(0, n_texts * blocks):
        text = tl.cast(step // blocks, tl.int64)
        places = (step % blocks) * PLACES + place
        values = tl.load(gradient + text * n_terms + terms, mask=terms < n_terms, other=0.0)
        values = values.to(hidden.dtype.element_ty)
        from_places = tl.load(token + text * n_terms + terms, mask=terms < n_terms, other=0).to(tl.int32)
        sent = tl.where(from_places[:, None] == places[None, :], values[:, None], 0.0).to(hidden.dtype.element_ty)
        at = hidden + (text * length + places)[:, None] * width + columns[None, :]
        rows = tl.load(at, mask=(places < length)[:, None] & (columns < width)[None, :], other=0.0)
        total = tl.dot(sent, rows, total, input_precision=PRECISION)
    to = out + terms.to(tl.int64)[:, None] * width + columns[None, :]
    tl.store(to, total.to(out.dtype.element_ty), mask=(terms < n_terms)[:, None] & (columns < width)[None, :])
