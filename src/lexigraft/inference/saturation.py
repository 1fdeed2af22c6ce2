"""From logits to term weights in numpy: log(1 + ReLU(x)), once or twice, as `model.activation` has it in torch."""

import numpy as np

from lexigraft.core.array_types import Float32s
from lexigraft.inference.meta import LOG1P_TWICE


def saturate(logits: Float32s, activation: str) -> Float32s:
    """f(x) = log(1 + ReLU(x)), or log(1 + log(1 + ReLU(x))); -inf becomes 0."""
    once: Float32s = np.log1p(np.maximum(logits, 0))
    return np.log1p(once) if activation == LOG1P_TWICE else once


def smallest_logit(weight: float, activation: str) -> float:
    """The x with f(x) = `weight`."""
    once = float(np.expm1(weight))
    return float(np.expm1(once)) if activation == LOG1P_TWICE else once
