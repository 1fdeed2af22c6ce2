"""Cross-entropy over a vocabulary, forward and backward: in blocks, and with all logits. On the GPU where there is one.

python -m bench.cross_entropy [--terms 20000] [--rows 150] [--width 384] [--runs 15]
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch

from lexigraft.model.backbone import default_device
from lexigraft.model.precision import fast_precision
from lexigraft.train.language.linear_cross_entropy import NamedRows, linear_cross_entropy, linear_cross_entropy_naive


def measure(function: Callable[..., NamedRows], parts: list[torch.Tensor], labels: torch.Tensor) -> float:
    """Milliseconds of one step."""
    device = labels.device
    for part in parts:
        part.grad = None
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    with fast_precision(device):
        loss = function(parts[0], labels, *parts[1:]).loss
    loss.backward()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("terms", 20_000), ("rows", 150), ("width", 384), ("runs", 15)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given, device = parser.parse_args(), default_device()
    torch.manual_seed(0)
    shapes = ((given.rows, given.width), (given.terms, given.width), (given.terms,))
    parts = [(0.05 * torch.randn(shape, device=device)).requires_grad_() for shape in shapes]
    labels = torch.randint(0, given.terms, (given.rows,), device=device)
    functions = {"blocks": linear_cross_entropy, "all logits": linear_cross_entropy_naive}
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for run in range(given.runs + 2):
        for name, function in functions.items():
            milliseconds = measure(function, parts, labels)
            if run >= 2:  # the first ones warm up
                taken[name].append(milliseconds)
    found = {name: round(statistics.median(values), 2) for name, values in taken.items()}
    print(json.dumps({**vars(given), "device": device.type, "threads": torch.get_num_threads(), "ms": found}))


if __name__ == "__main__":
    main()
