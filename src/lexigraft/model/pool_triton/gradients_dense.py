"""Gradients of pooled maxima where many terms of a text have one: two matrix products with a matrix of one number a
column, which is made on chip from the gradient and the tokens.

    S[text, token, term] = g[text, term] where the term's largest logit came from the token, else 0
    dH[text, token] = sum over terms of S W      dW[term] = sum over tokens of S^T H
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from lexigraft.model.pool_triton.nonzeros import Nonzeros


class Tile(NamedTuple):
    """What one program multiplies: a tile of its own, a step of `depth` at a time."""

    rows: int
    columns: int
    depth: int


# The fastest on an H200, of 11 (`docs/LOG.md`); in full precision, what the registers hold.
OF_HIDDEN, OF_WEIGHT, FULL = Tile(64, 256, 64), Tile(128, 128, 64), Tile(64, 64, 32)
LAUNCH = {"num_warps": 4, "num_stages": 3}


def hidden_gradient(
    out: Tensor, gradient: Tensor, token: Tensor, weight: Tensor, found: Nonzeros, precision: str
) -> None:
    """Fill `out` [texts, length, width]."""
    n_texts, length, width = out.shape
    tile = FULL if weight.dtype == torch.float32 else OF_HIDDEN
    places, columns = min(tile.rows, max(16, _power_of_2(length))), min(tile.columns, _power_of_2(width))
    texts = tile.rows // places
    _hidden_gradient[(triton.cdiv(width, columns), triton.cdiv(n_texts, texts), triton.cdiv(length, places))](
        out, gradient, token, TensorDescriptor.from_tensor(weight, [tile.depth, columns]), found.of_term,
        n_texts, gradient.shape[1], length, width, found.room,
        TEXTS=texts, PLACES=places, TERMS=tile.depth, COLUMNS=columns, PRECISION=precision, **LAUNCH,
    )  # fmt: skip


def weight_gradient(
    out: Tensor, gradient: Tensor, token: Tensor, hidden: Tensor, found: Nonzeros, precision: str
) -> None:
    """Fill `out` [terms, width]."""
    n_texts, length, width = hidden.shape
    tile = FULL if hidden.dtype == torch.float32 else OF_WEIGHT
    places, columns = min(tile.depth, max(16, _power_of_2(length))), min(tile.columns, _power_of_2(width))
    _weight_gradient[(triton.cdiv(width, columns), triton.cdiv(len(out), tile.rows))](
        out, gradient, token, TensorDescriptor.from_tensor(hidden.view(-1, width), [places, columns]), found.of_term,
        n_texts, len(out), length, width, found.room,
        TERMS=tile.rows, PLACES=places, COLUMNS=columns, PRECISION=precision, **LAUNCH,
    )  # fmt: skip


def _power_of_2(number: int) -> int:
    return 1 << (number - 1).bit_length()


@triton.jit
def _hidden_gradient(
    out, gradient, token, weight, of_term, n_texts, n_terms, length, width, room,
    TEXTS: tl.constexpr, PLACES: tl.constexpr, TERMS: tl.constexpr, COLUMNS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) <= room:
        return
    left = tl.program_id(0) * COLUMNS
    texts = (tl.program_id(1) * TEXTS + tl.arange(0, TEXTS)).to(tl.int64)
    places = tl.program_id(2) * PLACES + tl.arange(0, PLACES)
    total, term = tl.zeros((TEXTS * PLACES, COLUMNS), tl.float32), tl.arange(0, TERMS)
    at = texts[:, None] * n_terms + term[None, :]
    known = (texts < n_texts)[:, None] & (term < n_terms)[None, :]
    values, from_places = tl.load(gradient + at, mask=known, other=0.0), tl.load(token + at, mask=known, other=0)
    for start in range(0, n_terms, TERMS):
        is_from = places[None, :, None] == tl.expand_dims(from_places.to(tl.int32), 1)
        sent = tl.where(is_from, tl.expand_dims(values.to(weight.dtype), 1), 0.0).to(weight.dtype)
        # The next ones are on their way while these are multiplied.
        later = start + TERMS
        known = (texts < n_texts)[:, None] & (later + term < n_terms)[None, :]
        values = tl.load(gradient + at + later, mask=known, other=0.0)
        from_places = tl.load(token + at + later, mask=known, other=0)
        rows = weight.load([start, left])
        total = tl.dot(tl.reshape(sent, (TEXTS * PLACES, TERMS)), rows, total, input_precision=PRECISION)
    row = tl.arange(0, TEXTS * PLACES)
    text = (tl.program_id(1) * TEXTS + row // PLACES).to(tl.int64)
    place = tl.program_id(2) * PLACES + row % PLACES
    columns = left + tl.arange(0, COLUMNS)
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
    left = tl.program_id(0) * COLUMNS
    terms = tl.program_id(1) * TERMS + tl.arange(0, TERMS)
    total, place = tl.zeros((TERMS, COLUMNS), tl.float32), tl.arange(0, PLACES)
    blocks = tl.cdiv(length, PLACES)
    values = tl.load(gradient + terms, mask=terms < n_terms, other=0.0)
    from_places = tl.load(token + terms, mask=terms < n_terms, other=0)
    for step in range(0, n_texts * blocks):
        places = (step % blocks) * PLACES + place
        is_from = from_places.to(tl.int32)[:, None] == places[None, :]
        sent = tl.where(is_from, values.to(hidden.dtype)[:, None], 0.0).to(hidden.dtype)
        # The next ones are on their way while these are multiplied.
        later = tl.cast(tl.minimum((step + 1) // blocks, n_texts - 1), tl.int64) * n_terms
        values = tl.load(gradient + later + terms, mask=terms < n_terms, other=0.0)
        from_places = tl.load(token + later + terms, mask=terms < n_terms, other=0)
        rows = hidden.load([(step // blocks) * length + (step % blocks) * PLACES, left])
        total = tl.dot(sent, rows, total, input_precision=PRECISION)
    columns = left + tl.arange(0, COLUMNS)
    to = out + terms.to(tl.int64)[:, None] * width + columns[None, :]
    tl.store(to, total.to(out.dtype.element_ty), mask=(terms < n_terms)[:, None] & (columns < width)[None, :])
