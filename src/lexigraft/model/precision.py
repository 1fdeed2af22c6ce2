"""Half the bits where the machine multiplies them faster: training and encoding in bf16.

LEXIGRAFT_PRECISION=full in the environment: all bits on every machine; a GPU or a CPU with AMX pays for it with time.
Trainings on machines of different kinds are then alike but for the order of sums.
"""

import os

import torch

from lexigraft.core.errors import require

WHEN, AUTO, FULL = "LEXIGRAFT_PRECISION", "auto", "full"


def has_fast_bf16() -> bool:
    """Whether this machine multiplies bf16 matrices faster than fp32, a GPU, or a CPU with AMX or AVX512-BF16; and it
    may."""
    if not _may_round():
        return False
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    probes = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(bool(getattr(torch.cpu, probe, bool)()) for probe in probes)


def fast_precision(device: torch.device, enabled: bool = True) -> torch.autocast:
    """A context in which matrix products take bf16 on machines that are faster with it."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled and has_fast_bf16())


def allow_fast_products(device: torch.device) -> None:
    """Let a GPU take 10 bits of the mantissa for products in float32, which are then several times faster; sums keep
    all bits. What training compares differs by far more than the 1 in 2,000 of one product."""
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high" if _may_round() else "highest")


def _may_round() -> bool:
    said = os.environ.get(WHEN, AUTO)
    require(said in (AUTO, FULL), WHEN, said, f"{AUTO} or {FULL}")
    return said != FULL
