"""Where a gradient [texts, terms] is not zero: the terms of each text, and the texts of each term, both in order.

Two passes over the gradient, one that counts and one that writes, and no sort and no atomic addition: the lists are the
same every time. The host never learns how many there are. There is room for `ROOM` of all; where there are more,
nothing is listed, and the kernels of `gradients_dense` do what those of `gradients_sparse` leave.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

ROOM = 8  # one in so many
LEAST_ROOM = 4096
TEXTS, TERMS = 32, 128  # of a tile


class Nonzeros(NamedTuple):
    """`terms`: those of text b from of_text[b * blocks] to of_text[(b + 1) * blocks]; `texts`: those of term v from
    of_term[v] to of_term[v + 1]; `sums` [terms]: of the gradients of each term."""

    terms: Tensor
    of_text: Tensor
    texts: Tensor
    of_term: Tensor
    sums: Tensor
    blocks: int
    room: int


def find_nonzeros(gradient: Tensor) -> Nonzeros:
    n_texts, n_terms = gradient.shape
    blocks, device = triton.cdiv(n_terms, TERMS), gradient.device
    room = max(LEAST_ROOM, n_texts * n_terms // ROOM)
    of_text = torch.zeros(n_texts * blocks + 1, dtype=torch.int64, device=device)
    of_term = torch.zeros(n_terms + 1, dtype=torch.int64, device=device)
    sums = torch.empty(n_terms, dtype=torch.float32, device=device)
    texts = torch.empty(room, dtype=torch.int32, device=device)
    terms = torch.empty(room, dtype=torch.int32, device=device)
    sizes = {"TEXTS": TEXTS, "TERMS": TERMS, "num_warps": 4}
    _count[(blocks,)](gradient, of_text[1:], of_term[1:], sums, n_texts, n_terms, blocks, **sizes)
    of_text.cumsum_(0)
    of_term.cumsum_(0)
    _list[(blocks,)](gradient, of_text, of_term, terms, texts, n_texts, n_terms, blocks, room, **sizes)
    return Nonzeros(terms, of_text, texts, of_term, sums, blocks, room)


@triton.jit
def _count(
    gradient, of_text, of_term, sums, n_texts, n_terms, blocks, TEXTS: tl.constexpr, TERMS: tl.constexpr
):  # fmt: skip
    block = tl.program_id(0)
    terms, row = block * TERMS + tl.arange(0, TERMS), tl.arange(0, TEXTS)
    counts, total = tl.zeros((TERMS,), tl.int32), tl.zeros((TERMS,), tl.float32)
    for start in range(0, n_texts, TEXTS):
        texts = start + row
        known = (texts < n_texts)[:, None] & (terms < n_terms)[None, :]
        values = tl.load(gradient + texts.to(tl.int64)[:, None] * n_terms + terms[None, :], mask=known, other=0.0)
        is_there = (values != 0).to(tl.int32)
        tl.store(of_text + texts.to(tl.int64) * blocks + block, tl.sum(is_there, 1).to(tl.int64), mask=texts < n_texts)
        counts += tl.sum(is_there, 0)
        total += tl.sum(values, 0)
    tl.store(of_term + terms, counts.to(tl.int64), mask=terms < n_terms)
    tl.store(sums + terms, total, mask=terms < n_terms)


@triton.jit
def _list(
    gradient, of_text, of_term, listed_terms, listed_texts, n_texts, n_terms, blocks, room,
    TEXTS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    if tl.load(of_term + n_terms) > room:
        return
    block = tl.program_id(0)
    terms, row = block * TERMS + tl.arange(0, TERMS), tl.arange(0, TEXTS)
    place = tl.load(of_term + terms, mask=terms < n_terms, other=0)
    for start in range(0, n_texts, TEXTS):
        texts = start + row
        known = (texts < n_texts)[:, None] & (terms < n_terms)[None, :]
        values = tl.load(gradient + texts.to(tl.int64)[:, None] * n_terms + terms[None, :], mask=known, other=0.0)
        is_there = (values != 0).to(tl.int32)
        if tl.max(tl.max(is_there, 1), 0) > 0:
            begin = tl.load(of_text + texts.to(tl.int64) * blocks + block, mask=texts < n_texts, other=0)
            in_text = begin[:, None] + tl.cumsum(is_there, 1) - is_there
            in_term = place[None, :] + tl.cumsum(is_there, 0) - is_there
            tl.store(listed_terms + in_text, tl.broadcast_to(terms[None, :], (TEXTS, TERMS)), mask=values != 0)
            tl.store(listed_texts + in_term, tl.broadcast_to(texts[:, None], (TEXTS, TERMS)), mask=values != 0)
            place += tl.sum(is_there, 0)
