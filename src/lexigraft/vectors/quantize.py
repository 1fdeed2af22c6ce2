"""Weights to small integers, so that every score is an exact integer sum and every search method can agree to the bit.

Documents share one scale (the largest weight becomes 255, or 65,535, or 2^24 - 1); a query has its own, because only
the order within one query matters. Query weights that are whole numbers already, such as BM25's term counts, stay as
they are.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled, inlined, worth_loading
from lexigraft.core.errors import InputError

MAX_IMPACT = 255  # of 8 bits
MAX_QUERY_WEIGHT = 255
MAX_SCORE = 2**31 - 1  # of what adds up in 32 bits
NOT_ALLOWED, TOO_LARGE = -1.0, -2.0


class QueryLimits(NamedTuple):
    """What a query's integers may be, by the bits of the impacts that they are multiplied with."""

    most: int  # one of them
    sum_in_32_bits: int  # of all of them, for scores below 2^31
    largest_sum: int


@inlined
def query_limits(bits: int) -> QueryLimits:
    if bits == 8:
        return QueryLimits(MAX_QUERY_WEIGHT, MAX_SCORE // 255, MAX_SCORE // 255)
    return QueryLimits(2**16 - 1, MAX_SCORE // 65535 if bits == 16 else 2**38, 2**38)


@inlined
def adds_up_in_32_bits(total: int, bits: int) -> bool:
    """Whether a query whose integers have this sum has no score too large for 31 bits."""
    return bits < 24 and total <= MAX_SCORE // (2**bits - 1)


@inlined
def query_scale(largest: float, total: float, n_terms: int, whole: bool, limits: QueryLimits) -> float:
    """What an integer of 1 stands for, of weights with this largest one and this sum: such that scores stay below 2^31
    where the heaviest weight is not coarser for it than with 8 bits."""
    if largest == 0 or (whole and largest <= limits.most):
        return 1.0
    scale = largest / limits.most
    coarser = total / max(1, limits.sum_in_32_bits - n_terms)  # a weight is rounded up by 1 at most
    return max(scale, coarser) if coarser <= largest / MAX_QUERY_WEIGHT else scale


def quantize_documents(weights: NDArray[np.float32], scale: float, bits: int = 8) -> NDArray[Any]:
    """Impacts from 1 on with `weight ~ impact * scale`; a positive weight never becomes 0, so no posting is lost."""
    impacts = np.clip(
        np.rint(weights / np.float32(scale) if bits == 8 else weights / np.float64(scale)), 1, 2**bits - 1
    )
    return impacts.astype(np.uint8 if bits == 8 else np.uint32)


def document_scale(largest_weight: float, bits: int = 8) -> float:
    return largest_weight / (2**bits - 1) if largest_weight > 0 else 1.0


def fits(largest_weight: float, scale: float, bits: int = 8) -> bool:
    """Whether weights up to this one become impacts of this scale without being cut."""
    return bool(round(largest_weight / scale) < 2**bits)


def quantize_query(weights: NDArray[np.float32], bits: int = 8) -> tuple[NDArray[np.int32], float]:
    """(integer weights, scale) with `weight ~ integer * scale`; exact, with scale 1, for whole numbers.

    `bits` is what the documents' impacts have. Of 8 bits, scores must stay below 2^31; of 16 they do, but for whole
    numbers and for very long queries (`query_scale`)."""
    integers = np.empty(len(weights), np.int32)
    fill = fill_query_integers if worth_loading(len(weights)) else fill_by_numpy
    scale = fill(np.asarray(weights, np.float32), query_limits(bits), integers)
    if scale == NOT_ALLOWED:
        raise InputError("query weights must be finite and not negative")
    if scale == TOO_LARGE:
        raise InputError(f"a query of {len(weights)} terms can exceed the largest score {MAX_SCORE}; prune it first")
    return integers, scale


@compiled
def fill_query_integers(weights: NDArray[np.float32], limits: QueryLimits, integers: NDArray[np.int32]) -> float:
    """Fill `integers` and return their scale, or what is wrong with the weights."""
    largest, whole, exact_total = np.float32(0), True, 0.0
    for i in range(len(weights)):
        weight = weights[i]
        if not (weight >= 0) or weight == np.inf:  # the first is true of what is not a number, too
            return NOT_ALLOWED
        largest = max(largest, weight)
        whole = whole and weight == np.rint(weight)
        exact_total += np.float64(weight)
    scale = query_scale(float(largest), exact_total, len(weights), whole, limits)
    total = np.int64(0)
    for i in range(len(weights)):
        integer = np.int64(np.rint(np.float64(weights[i]) / scale))
        if weights[i] > 0:
            integer = max(integer, np.int64(1))
        integers[i] = integer
        total += integer
    return scale if total <= limits.largest_sum else TOO_LARGE


def fill_by_numpy(weights: NDArray[np.float32], limits: QueryLimits, integers: NDArray[np.int32]) -> float:
    """The twin of `fill_query_integers` for a process without kernels."""
    if not (weights >= 0).all() or np.isinf(weights).any():
        return NOT_ALLOWED
    largest, exact_total = float(weights.max(initial=0)), 0.0
    for weight in weights.tolist():  # in the kernel's order, which numpy's sum has not
        exact_total += weight
    scale = query_scale(largest, exact_total, len(weights), bool((weights == np.rint(weights)).all()), limits)
    integers[:] = np.maximum(np.rint(weights.astype(np.float64) / scale), weights > 0)
    return scale if int(integers.sum(dtype=np.int64)) <= limits.largest_sum else TOO_LARGE
