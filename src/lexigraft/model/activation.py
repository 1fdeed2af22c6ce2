"""From logits to term weights (H4): log(1 + ReLU(x)), or that twice, as some published models have it."""

from collections.abc import Callable

import torch
from torch import Tensor

from lexigraft.inference.meta import LOG1P, LOG1P_TWICE
from lexigraft.model.pool import saturate


def activate(logits: Tensor, activation: str = LOG1P) -> Tensor:
    """f(x) = log(1 + ReLU(x)), or log(1 + log(1 + ReLU(x))); -inf becomes 0."""
    return ACTIVATIONS[activation](logits)


def slope(logits: Tensor, activation: str = LOG1P) -> Tensor:
    """f'(x): 1 / (1 + x), or 1 / ((1 + x) (1 + log(1 + x))), where x > 0; 0 elsewhere."""
    positive = torch.relu(logits)
    below = 1 + positive
    if activation == LOG1P_TWICE:
        below = below * (1 + torch.log1p(positive))
    return (logits > 0) / below


def _saturate_twice(logits: Tensor) -> Tensor:
    return torch.log1p(saturate(logits))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {LOG1P: saturate, LOG1P_TWICE: _saturate_twice}
