"""Time and memory of the tiled head beside the formula as it is written, forward and backward, on this CPU.

    python -m bench.head_cpu [--out FILE.json]

Each of the two runs in a process of its own; the gradient asks for what training asks for: the 160 heaviest terms of
each text.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path

BATCH, LENGTH, WIDTH, KEPT = 32, 40, 384, 160


def _child(naive: bool, n_terms: int, results: "multiprocessing.Queue[object]") -> None:
    import torch

    from lexigraft.core.resources import measured
    from lexigraft.model.pool import max_over_tokens, max_over_tokens_naive, saturate

    torch.manual_seed(0)
    hidden = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    weight = (torch.randn(n_terms, WIDTH) * 0.05).requires_grad_()
    bias, mask = torch.zeros(n_terms, requires_grad=True), torch.ones(BATCH, LENGTH)
    pool = max_over_tokens_naive if naive else max_over_tokens
    with measured() as before:
        pass
    times = []
    with measured() as usage:
        for _ in range(3):
            start = time.perf_counter()
            vectors = saturate(pool(hidden, mask, weight, bias))
            forward = time.perf_counter() - start
            gradient = torch.zeros_like(vectors).scatter_(1, vectors.topk(KEPT, dim=1).indices, 1.0)
            vectors.backward(gradient)
            times.append((forward, time.perf_counter() - start - forward))
    forward, backward = (sorted(column)[1] for column in zip(*times, strict=True))
    results.put(
        {
            "forward_s": round(forward, 3),
            "backward_s": round(backward, 3),
            "extra_mib": round(usage.peak_rss_mib - before.peak_rss_mib),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    found: dict[str, object] = {"batch": BATCH, "length": LENGTH, "width": WIDTH}
    for n_terms in (30_000, 100_000):
        for name in ("tiled", "naive"):
            results = context.Queue()
            process = context.Process(target=_child, args=(name == "naive", n_terms, results))
            process.start()
            found[f"{name} {n_terms}"] = results.get()
            process.join()
            print(name, n_terms, found[f"{name} {n_terms}"], flush=True)
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
