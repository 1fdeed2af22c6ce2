"""Whether this machine's GPU runs kernels of our own, tried once: those of the head (`pool_triton`), of a backbone's
layer normalisation and of the cross-entropy over terms. Where it does not, torch's own operations do the same.

LEXIGRAFT_HEAD=torch in the environment: torch's own operations everywhere.
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
    if operand.device.index is not None and operand.device.index != torch.cuda.current_device():
        return None  # a kernel is launched on the device that is current
    said = os.environ.get(WHEN, AUTO)
    require(said in (AUTO, TORCH), WHEN, said, f"{AUTO} or {TORCH}")
    return None if said == TORCH else _tried(operand.device)


@cache
def _tried(device: torch.device) -> Any:
    """The module, if it is there and every kernel computes something small on this device without an error."""
    if importlib.util.find_spec("triton") is None:
        return _without("triton is not installed")
    try:
        kernels = importlib.import_module("lexigraft.model.pool_triton")
        cross_entropy = importlib.import_module("lexigraft.model.cross_entropy_triton")
        layer_norm = importlib.import_module("lexigraft.model.layer_norm_triton")
        is_right = _compute_ones(kernels, cross_entropy, device) and _normalise_one(layer_norm, device)
    except Exception as error:  # noqa: BLE001  # a compiler fails in many ways; torch computes the same
        return _without((str(error).strip() or type(error).__name__).splitlines()[0])
    return kernels if is_right else _without("they computed something else than was asked for")


@torch.inference_mode(False)
@torch.enable_grad()
def _compute_ones(kernels: Any, cross_entropy: Any, device: torch.device) -> bool:
    """Every kernel of a head once, on ones. Whoever asks may be within a checkpoint, which must not see this pass."""
    dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    with torch.autograd.graph.saved_tensors_hooks(_as_it_is, _as_it_is):
        hidden, weight, bias = (
            torch.ones(*shape, dtype=dtype, device=device, requires_grad=True) for shape in ((2, 3, 64), (5, 64), (5,))
        )
        pooled, none = torch.ones(2, 3, device=device), torch.zeros(0, dtype=torch.int64, device=device)
        best = kernels.max_over_tokens(hidden, pooled, weight, bias)
        (65 * best).sum().backward()
        found = kernels.term_weights(best.detach().clone(), None, none, none, none.float(), False)
        with torch.no_grad():
            listed = kernels.list_weights(hidden, pooled, weight, bias, 0.5, False, 5)
            logits, labels = torch.zeros(2, 5, dtype=dtype, device=device), none.new_ones(2)
            rows, sums = cross_entropy.sum_rows(logits, bias.float(), labels), torch.zeros(5, device=device)
            cross_entropy.write_shares(logits, bias.float(), labels, rows.log_sums, 1.0, sums)
    is_pooled = bool((best == 65).all()) and bias.grad is not None and bool(((bias.grad - 130).abs() < 1).all())
    is_weighed = bool(((found - 4.18965).abs() < 1e-4).all()) and listed.counts.tolist() == [5, 5]
    return is_pooled and is_weighed and bool((rows.losses - 1.60944).abs().max() < 1e-4) and float(sums[1]) < 0


@torch.inference_mode(False)
@torch.enable_grad()
def _normalise_one(layer_norm: Any, device: torch.device) -> bool:
    """A row of 0 and 2, which is -1 and 1 when it is normalised: no gradient is left of it."""
    with torch.autograd.graph.saved_tensors_hooks(_as_it_is, _as_it_is):
        row = torch.tensor([[0.0, 2.0]], device=device, requires_grad=True)
        weight, bias = (torch.ones(2, device=device, requires_grad=True) for _ in range(2))
        found = layer_norm.layer_norm(row, weight, bias, 1e-9, torch.float32)
        (5 * found).sum().backward()
    expected = ((found, [[0, 2]]), (row.grad, [[0, 0]]), (weight.grad, [-5, 5]), (bias.grad, [5, 5]))
    return all(part is not None and part.round(decimals=3).tolist() == wanted for part, wanted in expected)


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _without(reason: str) -> None:
    log.warning("the head runs by torch's own products, which are slower: kernels cannot be used here (%s)", reason)
