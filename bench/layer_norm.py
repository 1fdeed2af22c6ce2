"""Milliseconds of layer normalisation on a GPU, forward and backward: our kernels, and torch's.

    python -m bench.layer_norm [--rows 20480] [--width 384] [--out FILE.json]

Numbers are float32, as in a training. `floor_ms` is the time in which an H200's memory moves what must be moved: values
and the given gradient in (the values twice), results and their gradient out.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

BYTES_A_SECOND = 4.8e12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_480)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    text = json.dumps(measured(options.rows, options.width), indent=2)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


def measured(rows: int, width: int) -> dict[str, Any]:
    from lexigraft.model.layer_norm_triton import layer_norm

    values, given = torch.randn(2, rows, width, device="cuda")
    weight, bias = torch.randn(2, width, device="cuda")
    parts = [part.requires_grad_() for part in (values, weight, bias)]

    def by_torch() -> Tensor:
        return torch.nn.functional.layer_norm(values, (width,), weight, bias, 1e-5)

    def ours() -> Tensor:
        return layer_norm(values, weight, bias, 1e-5, torch.float32)

    def both(run: Callable[[], Tensor]) -> object:
        return torch.autograd.grad(run(), parts, given)

    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "rows": rows, "width": width}
    for name, run in (("torch", by_torch), ("kernels", ours)):
        forward = recorded_ms(run)
        found[name] = {"forward_ms": forward, "backward_ms": round(recorded_ms(partial(both, run)) - forward, 4)}
    found["floor_ms"] = round(1000 * 4 * rows * width * 5 / BYTES_A_SECOND, 4)
    return found


def recorded_ms(run: Callable[[], object]) -> float:
    """The median of replays, as in a recorded step: launches cost nothing."""
    import triton

    found: float = triton.testing.do_bench_cudagraph(run, rep=20, return_mode="median")
    return round(found, 4)


if __name__ == "__main__":
    main()
