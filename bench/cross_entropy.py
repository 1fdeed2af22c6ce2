"""Cross-entropy over a vocabulary, forward and backward: ours in blocks, torch's in chunks, and with all logits.

    python -m bench.cross_entropy [--terms 20000] [--rows 150] [--width 384] [--runs 15] [--threads 1]

On the GPU where there is one. Times are interleaved, so that what else the machine does falls on all alike; on a CPU,
processor time, of all threads together, stands beside them, and memory is the peak of a process of its own beyond what
the operands take. torch's says nothing of accuracy, which ours
computes besides; torch before 2.13 has none.
"""

import argparse
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from lexigraft.core.resources import measured
from lexigraft.model.backbone import default_device
from lexigraft.model.precision import fast_precision
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy, linear_cross_entropy_naive

Loss = Callable[..., torch.Tensor]


def losses() -> dict[str, Loss]:
    """By name, functions of (hidden, labels, weight, bias)."""
    found: dict[str, Loss] = {
        "blocks": lambda *parts: linear_cross_entropy(*parts).loss,
        "all logits": lambda *parts: linear_cross_entropy_naive(*parts).loss,
    }
    chunked = getattr(torch.nn.functional, "linear_cross_entropy", None)
    if chunked is not None:
        options = torch.nn.LinearCrossEntropyOptions()
        found["torch's chunks"] = lambda hidden, labels, weight, bias: chunked(
            hidden, weight, labels, linear_bias=bias, options=options
        )
    return found


def operands(given: argparse.Namespace, device: torch.device) -> tuple[list[torch.Tensor], torch.Tensor]:
    torch.manual_seed(0)
    shapes = ((given.rows, given.width), (given.terms, given.width), (given.terms,))
    parts = [(0.05 * torch.randn(shape, device=device)).requires_grad_() for shape in shapes]
    return parts, torch.randint(0, given.terms, (given.rows,), device=device)


def milliseconds(function: Loss, parts: list[torch.Tensor], labels: torch.Tensor) -> tuple[float, float]:
    """Of one step, and of the processor."""
    device = labels.device
    for part in parts:
        part.grad = None
    if device.type == "cuda":
        torch.cuda.synchronize()
    start, worked = time.perf_counter(), time.process_time()
    with fast_precision(device):
        loss = function(parts[0], labels, *parts[1:])
    loss.backward()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - worked)


def peak(name: str, given: argparse.Namespace, results: Any) -> None:
    """Into `results`, the MiB that a step takes at most, gradients included, in this process."""
    parts, labels = operands(given, torch.device("cpu"))
    with measured() as before:
        pass
    with measured() as usage:
        milliseconds(losses()[name], parts, labels)
    results.put(round(usage.peak_rss_mib - before.peak_rss_mib))


def in_a_process_of_its_own(name: str, given: argparse.Namespace) -> int:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=peak, args=(name, given, results))
    process.start()
    found: int = results.get()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("terms", 20_000), ("rows", 150), ("width", 384), ("runs", 15), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given, device = parser.parse_args(), default_device()
    torch.set_num_threads(given.threads)
    parts, labels = operands(given, device)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in losses()}
    for run in range(given.runs + 1):
        for name, function in losses().items():
            found = milliseconds(function, parts, labels)
            if run:  # the first one warms up
                taken[name].append(found)
    wall, worked = (
        {name: round(statistics.median(step[part] for step in steps), 2) for name, steps in taken.items()}
        for part in (0, 1)
    )
    answer: dict[str, Any] = {"device": device.type, "ms": wall}
    if device.type == "cpu":
        answer["processor_ms"] = worked
        answer["peak_mib"] = {name: in_a_process_of_its_own(name, given) for name in taken}
    print(json.dumps({**vars(given), **answer}))


if __name__ == "__main__":
    main()
