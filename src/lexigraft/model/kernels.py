"""Whether this machine's GPU runs kernels of our own (`pool_triton`), tried once; torch's own products do where not.

LEXIGRAFT_HEAD=torch in the environment: torch's own products everywhere.
"""

import importlib
import importlib.util
import logging
import os
from functools import cache
from typing import Any

import torch
from torch import Tensor

from lexigraft.core.errors import require

WHEN, AUTO, TORCH = "LEXIGRAFT_HEAD", "auto", "torch"
PRODUCTS = (torch.bfloat16, torch.float16, torch.float32)

log = logging.getLogger(__name__)


def kernels_for(operand: Tensor) -> Any:
    """The module of kernels that take `operand`, or None where torch does without them."""
    if not operand.is_cuda or operand.dtype not in PRODUCTS:
        return None
    said = os.environ.get(WHEN, AUTO)
    require(said in (AUTO, TORCH), WHEN, said, f"{AUTO} or {TORCH}")
    return None if said == TORCH else _tried(operand.device)


@cache
def _tried(device: torch.device) -> Any:
    """The module, if it is there and pools two small texts on this device without an error."""
    if importlib.util.find_spec("triton") is None:
        return _without("triton is not installed")
    try:
        kernels = importlib.import_module("lexigraft.model.pool_triton")
        is_right = _pools_ones(kernels, device)
    except Exception as error:  # noqa: BLE001  # a compiler fails in many ways; torch computes the same
        return _without((str(error).strip() or type(error).__name__).splitlines()[0])
    return kernels if is_right else _without("they computed something else than was asked for")


@torch.inference_mode(False)
@torch.enable_grad()
def _pools_ones(kernels: Any, device: torch.device) -> bool:
    dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    hidden, weight, bias = (
        torch.ones(*shape, dtype=dtype, device=device, requires_grad=True) for shape in ((2, 3, 64), (5, 64), (5,))
    )
    best = kernels.max_over_tokens(hidden, torch.ones(2, 3, device=device), weight, bias)
    best.sum().backward()
    return bool((best == 65).all()) and bias.grad is not None and bool((bias.grad == 2).all())


def _without(reason: str) -> None:
    log.warning("the head runs by torch's own products, which are slower: kernels cannot be used here (%s)", reason)
