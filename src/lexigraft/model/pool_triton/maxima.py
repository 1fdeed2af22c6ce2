"""The product of tokens and terms, with each text's largest logit of every term and the token it came from, on chip.

A program has a block of terms and some texts. It goes through the texts' packed tokens a tile at a time, multiplies,
and reduces the tile before the next one: first within granules, whose 16 slots belong to one text, then within texts.
What a text that goes on in the next tile has so far is carried over. The result is written whole, or listed: only the
terms that a text has.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from lexigraft.model.pool_triton.activation import activated
from lexigraft.model.pool_triton.packing import GRANULE, Packed

SLOTS_A_PROGRAM = 2048  # of the texts of a program, about: long enough that few tiles are not full
BLOCKS_TOGETHER = 16  # blocks of terms whose programs run side by side, and share what the cache holds of the tokens


class Listed(NamedTuple):
    """`counts` [texts]; `terms` and `weights` [texts, room], of which the first ones of each row are filled."""

    counts: Tensor
    terms: Tensor
    weights: Tensor


class Tile(NamedTuple):
    """How much one program multiplies at a time, with how many warps, and with how many loads in flight."""

    terms: int
    slots: int
    depth: int
    warps: int
    stages: int


# The fastest on an H200, of 10 (`docs/LOG.md`): who also wants tokens needs more registers.
VALUES, TOKENS, FULL = Tile(128, 128, 64, 4, 3), Tile(128, 128, 64, 8, 3), Tile(128, 64, 32, 8, 3)
MOST_SLOTS = max(tile.slots for tile in (VALUES, TOKENS, FULL))


def fill_maxima(
    best: Tensor, token: Tensor | None, packed: Packed, weight: Tensor, bias: Tensor, length: int, precision: str
) -> None:
    """Fill `best` [texts, terms] with the largest logits, and `token` with the places that they came from; `weight`
    [terms, width] is as wide as the packed rows, `length` what a text has at most.

    With tokens, sums of 16-bit products lose their last 4 of 24 bits, into which the token is written; of equal ones
    above zero, before the bias, the first token wins. In full precision nothing is lost.
    """
    tile = FULL if weight.dtype == torch.float32 else VALUES if token is None else TOKENS
    places = {"WITH_TOKENS": token is not None, "CODED": token is not None and weight.dtype != torch.float32}
    nothing = packed.text_of
    _launch(
        tile,
        packed,
        weight,
        bias,
        length,
        precision,
        (best, nothing if token is None else token, nothing, 0, 0.0),
        **places,
    )


def list_maxima(
    listed: Listed, packed: Packed, weight: Tensor, bias: Tensor, length: int, precision: str, above: float, twice: bool
) -> None:
    """Add to the lists each text's terms whose activated largest logit is more than `above`, in no order; `twice`: the
    logarithm twice. Where a text has more than there is room for, its count says so, and the rest is left."""
    tile = FULL if weight.dtype == torch.float32 else VALUES
    to = listed.weights, listed.counts, listed.terms, listed.terms.shape[1], above
    _launch(tile, packed, weight, bias, length, precision, to, LISTED=True, TWICE=twice)


def _launch(
    tile: Tile, packed: Packed, weight: Tensor, bias: Tensor, length: int, precision: str, to: tuple[Any, ...],
    WITH_TOKENS: bool = False, CODED: bool = False, LISTED: bool = False, TWICE: bool = False,
) -> None:  # fmt: skip
    n_texts, n_terms = len(packed.n_tokens), len(weight)
    texts_a_program = max(1, SLOTS_A_PROGRAM // (-(-max(1, length) // GRANULE) * GRANULE))
    n_blocks, n_groups = triton.cdiv(n_terms, tile.terms), triton.cdiv(n_texts, texts_a_program)
    _reduce_products[(n_blocks * n_groups,)](
        TensorDescriptor.from_tensor(packed.rows, [tile.slots, tile.depth]),
        TensorDescriptor.from_tensor(weight, [tile.terms, tile.depth]),
        bias, packed.place, packed.text_of, packed.first, packed.n_tokens, *to,
        n_texts, n_terms, n_blocks, n_groups, texts_a_program, weight.shape[1],
        TERMS=tile.terms, SLOTS=tile.slots, DEPTH=tile.depth, GRANULE=GRANULE, WITH_TOKENS=WITH_TOKENS, CODED=CODED,
        LISTED=LISTED, TWICE=TWICE, TOGETHER=BLOCKS_TOGETHER, PRECISION=precision,
        num_warps=tile.warps, num_stages=tile.stages,
    )  # fmt: skip


@triton.jit
def _larger(left, right):
    return tl.maximum(left, right, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _reduce_products(
    rows, weight, bias, place, text_of, first, n_tokens, best, token, listed, room, above, n_texts, n_terms, n_blocks,
    n_groups, texts_a_program, width: tl.constexpr, TERMS: tl.constexpr, SLOTS: tl.constexpr, DEPTH: tl.constexpr,
    GRANULE: tl.constexpr, WITH_TOKENS: tl.constexpr, CODED: tl.constexpr, LISTED: tl.constexpr, TWICE: tl.constexpr,
    TOGETHER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    # Blocks of terms go by the dozen through all groups of texts.
    program = tl.program_id(0)
    band = program // (TOGETHER * n_groups)
    in_band = tl.minimum(TOGETHER, n_blocks - band * TOGETHER)
    block = band * TOGETHER + (program % (TOGETHER * n_groups)) % in_band
    group = (program % (TOGETHER * n_groups)) // in_band

    NONE: tl.constexpr = float("-inf")
    LAST: tl.constexpr = 2147483647
    GRANULES: tl.constexpr = SLOTS // GRANULE
    terms = block * TERMS + tl.arange(0, TERMS)
    slot, granules = tl.arange(0, SLOTS), tl.arange(0, GRANULES)
    shift = tl.load(bias + terms, mask=terms < n_terms, other=0.0).to(tl.float32)
    first_text = group * texts_a_program
    begin = tl.load(first + first_text)
    end = tl.load(first + tl.minimum(first_text + texts_a_program, n_texts))
    carried = tl.full((TERMS,), NONE, tl.float32)
    carried_place = tl.zeros((TERMS,), tl.int32)
    for granule in range(begin, end, GRANULES):
        logits = tl.zeros((TERMS, SLOTS), tl.float32)
        for at in range(0, width, DEPTH):
            some_terms = weight.load([block * TERMS, at])
            some_tokens = rows.load([granule * GRANULE, at])
            logits = tl.dot(some_terms, some_tokens.T, logits, input_precision=PRECISION)
        if CODED:
            # Where in its granule a token stands is written into the last bits of its logits: the maximum brings it.
            bits = (logits.to(tl.int32, bitcast=True) & ~(GRANULE - 1)) | (GRANULE - 1 - slot % GRANULE)[None, :]
            logits = bits.to(tl.float32, bitcast=True)
        parts = tl.reshape(logits, (TERMS, GRANULES, GRANULE))
        largest = tl.reduce(parts, 2, _larger)
        if CODED:
            bits = largest.to(tl.int32, bitcast=True)
            slot_of_largest = (granules * GRANULE + GRANULE - 1)[None, :] - (bits & (GRANULE - 1))
            largest = (bits & ~(GRANULE - 1)).to(tl.float32, bitcast=True)
        elif WITH_TOKENS:
            slots = tl.reshape(slot, (1, GRANULES, GRANULE))
            slot_of_largest = tl.min(tl.where(parts == tl.expand_dims(largest, 2), slots, LAST), 2)
        text_of_granule = tl.load(text_of + granule + granules)
        tile_end = tl.minimum(granule + GRANULES, end)
        for text in range(tl.load(text_of + granule), tl.load(text_of + tile_end - 1) + 1):
            is_own = tl.where(granule + granules < tile_end, text_of_granule, -1) == text
            found = tl.reduce(tl.where(is_own[None, :], largest, NONE), 1, _larger)
            closes = tl.load(first + text + 1) <= tile_end
            is_known = terms < tl.where(closes, n_terms, 0)
            to = tl.cast(text, tl.int64) * n_terms + terms
            if WITH_TOKENS:
                is_found = is_own[None, :] & (largest == found[:, None])
                found_slot = tl.min(tl.where(is_found, slot_of_largest, LAST), 1)
                found_slot = tl.where(found_slot == LAST, 0, found_slot)  # not a number: any token
                found_place = tl.load(place + tl.cast(granule, tl.int64) * GRANULE + found_slot)
                found_place = tl.where(carried >= found, carried_place, found_place)
                tl.store(token + to, found_place.to(token.dtype.element_ty), mask=is_known)
                carried_place = tl.where(closes, 0, found_place)
            found = _larger(carried, found)
            carried = tl.where(closes, NONE, found)
            found = tl.where(tl.load(n_tokens + text) > 0, found + shift, NONE)
            if LISTED:
                found = activated(found, TWICE)
                is_kept = tl.where(is_known, found, 0.0) > above
                n_kept = tl.sum(is_kept.to(tl.int32), 0)
                if n_kept > 0:
                    number = tl.atomic_add(token + text, n_kept) + tl.cumsum(is_kept.to(tl.int32), 0) - 1
                    entry = tl.cast(text, tl.int64) * room + number
                    tl.store(best + entry, found, mask=is_kept & (number < room))
                    tl.store(listed + entry, terms, mask=is_kept & (number < room))
            else:
                tl.store(best + to, found, mask=is_known)
