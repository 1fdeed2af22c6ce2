"""The pooled tokens of a batch side by side, without padding: what the matrix product reads.

A text has its pooled tokens one after the other, filled up to whole granules of 16 slots with its first one, which
changes no maximum. A text without any has one granule of zeros. Nothing here asks the device how many tokens there are:
the memory is what the rectangle could need at most, and the offsets stay on the device.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

GRANULE = 16  # slots
WIDTHS = 64  # a row's width is a multiple of this


class Packed(NamedTuple):
    """`rows` [slots, width]; `place` [slots]: where in its text a slot's token stands; `text_of` [granules]; `first`
    [texts + 1]: the first granule of each text, and the one after the last; `n_tokens` [texts]: the pooled ones."""

    rows: Tensor
    place: Tensor
    text_of: Tensor
    first: Tensor
    n_tokens: Tensor


def pack(hidden: Tensor, pooled: Tensor, spare: int) -> Packed:
    """The rows of `hidden` [texts, length, width] where `pooled` is true; `spare` slots more may be read."""
    n_texts, length, width = hidden.shape
    blocks = max(1, -(-length // GRANULE))
    n_tokens = pooled.sum(1, dtype=torch.int32)
    first = torch.zeros(n_texts + 1, dtype=torch.int32, device=hidden.device)
    torch.cumsum(((n_tokens + (GRANULE - 1)) // GRANULE).clamp_min(1), 0, dtype=torch.int32, out=first[1:])
    slots = n_texts * blocks * GRANULE + spare
    rows = hidden.new_empty((slots, width))
    place = torch.empty(slots, dtype=torch.int32, device=hidden.device)
    text_of = torch.empty(slots // GRANULE, dtype=torch.int32, device=hidden.device)
    _pack_texts[(n_texts, blocks)](
        hidden, pooled, first, rows, place, text_of, length, width,
        GRANULE=GRANULE, COLUMNS=min(512, triton.next_power_of_2(width)), num_warps=4,
    )  # fmt: skip
    return Packed(rows, place, text_of, first, n_tokens)


@triton.jit
def _pack_texts(
    hidden, pooled, first, rows, place, text_of, length, width, GRANULE: tl.constexpr, COLUMNS: tl.constexpr
):
    """Some places of one text a program; the last of them also fills what is left of the text's last granule."""
    text, start = tl.program_id(0).to(tl.int64), tl.program_id(1) * GRANULE
    begin, end = tl.load(first + text), tl.load(first + text + 1)
    slot, column = tl.arange(0, GRANULE), tl.arange(0, COLUMNS)
    n_before, first_place = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32) + length
    for earlier in range(0, start + GRANULE, GRANULE):
        here = earlier + slot
        is_pooled = tl.load(pooled + text * length + here, mask=here < length, other=0).to(tl.int32)
        first_place = tl.minimum(first_place, tl.min(tl.where(is_pooled > 0, here, length), 0))
        n_before += tl.where(earlier < start, tl.sum(is_pooled, 0), 0)
    here = start + slot
    is_pooled = tl.load(pooled + text * length + here, mask=here < length, other=0).to(tl.int32)
    to = begin * GRANULE + n_before + tl.cumsum(is_pooled, 0) - is_pooled
    tl.store(place + to, here, mask=is_pooled > 0)
    for left in range(0, width, COLUMNS):
        at = left + column
        known = (is_pooled > 0)[:, None] & (at < width)[None, :]
        values = tl.load(hidden + (text * length + here)[:, None] * width + at[None, :], mask=known, other=0.0)
        tl.store(rows + to.to(tl.int64)[:, None] * width + at[None, :], values, mask=known)
    if start + GRANULE >= length:
        n_seen = n_before + tl.sum(is_pooled, 0)
        to = (end - 1) * GRANULE + slot
        is_left = to >= begin * GRANULE + n_seen
        one = tl.minimum(first_place, length - 1)
        tl.store(place + to, one + slot * 0, mask=is_left)
        for left in range(0, width, COLUMNS):
            at = left + column
            values = tl.load(hidden + (text * length + one) * width + at, mask=at < width, other=0.0)
            values = tl.broadcast_to(tl.where(n_seen > 0, values, 0.0)[None, :], (GRANULE, COLUMNS))
            to_here = rows + to.to(tl.int64)[:, None] * width + at[None, :]
            tl.store(to_here, values, mask=is_left[:, None] & (at < width)[None, :])
        for granule in range(begin, end):
            tl.store(text_of + granule, text.to(tl.int32))
