"""Weights to small integers, so that every score is an exact integer sum and every search method can agree to the bit.

Documents share one scale (the largest weight becomes 255); a query has its own, because only the order within one query
matters. Query weights that are whole numbers already, such as BM25's term counts, stay as they are.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError

MAX_IMPACT = 255
MAX_QUERY_WEIGHT = 255
MAX_SCORE = 2**31 - 1


def quantize_documents(weights: NDArray[np.float32], scale: float) -> NDArray[np.uint8]:
    """Impacts 1..255 with `weight ~ impact * scale`; a positive weight never becomes 0, so no posting is lost."""
    impacts: NDArray[np.uint8] = np.clip(np.rint(weights / scale), 1, MAX_IMPACT).astype(np.uint8)
    return impacts


def document_scale(largest_weight: float) -> float:
    return largest_weight / MAX_IMPACT if largest_weight > 0 else 1.0


def fits(largest_weight: float, scale: float) -> bool:
    """Whether weights up to this one become impacts of this scale without being cut."""
    return round(largest_weight / scale) <= MAX_IMPACT


def quantize_query(weights: NDArray[np.float32]) -> tuple[NDArray[np.int32], float]:
    """(integer weights, scale) with `weight ~ integer * scale`; exact, with scale 1, for whole numbers."""
    if not len(weights):
        return np.zeros(0, np.int32), 1.0
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("query weights must be finite and not negative")
    largest = float(weights.max())
    if largest <= MAX_QUERY_WEIGHT and (weights == np.rint(weights)).all():
        integers, scale = weights.astype(np.int32), 1.0
    else:
        scale = largest / MAX_QUERY_WEIGHT
        integers = np.maximum(np.rint(weights / scale), weights > 0).astype(np.int32)
    if int(integers.sum(dtype=np.int64)) * MAX_IMPACT > MAX_SCORE:
        raise InputError(f"a query of {len(weights)} terms can exceed the largest score {MAX_SCORE}; prune it first")
    return integers, scale
