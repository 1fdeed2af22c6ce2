"""Time and memory of the head on a GPU, forward and backward, beside the bare matrix product that it needs.

    python -m bench.head_gpu [--shapes 512x64x30522,512x64x100000,1024x64x100000,512x64x300000] [--against SRC]
        [--out FILE.json]

Operands are bfloat16, of width 768; the head's rows are kept in float32, as a training keeps them, and every text is of
full length. *Dense*: every term has a gradient. *Sparse*: 160 terms a text have one, drawn by Zipf's law. *Eager* is
the formula as it is written, with all its logits. `--against`: the `src` folder of another checkout, whose head is
timed in the same run. Memory is the peak above operands, weights and the given gradient; `outputs_gib` is what of that
are the values and the gradients that were asked for. Last, how far values and gradients are from float64.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

WIDTH, KEPT = 768, 160
SHAPES = "512x64x30522,512x64x100000,1024x64x100000,512x64x300000"
WARM, TIMES = 2, 7
GIB = 2**30
BYTES_A_SECOND = 4.8e12  # of an H200's memory
Pool = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
HEADS = ("eager", "kernels")  # and "against"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", help="the columns of one head, as JSON, for another process")
    options = parser.parse_args()
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    if options.only:
        print(json.dumps([columns(shape, options.only) for shape in shapes]))
        return
    product_ms(shapes[0])  # the clock of a device that had nothing to do is slow
    rows = [{"shape": shape, "product_ms": product_ms(shape), **floor_of(shape)} for shape in shapes]
    for name in (*HEADS, *(["against"] if options.against else [])):
        for row, found in zip(rows, in_a_process(name, options), strict=True):
            row[name] = found
            print(row["shape"], name, row["product_ms"], found, file=sys.stderr, flush=True)
    report: dict[str, Any] = {"device": device_name(), "width": WIDTH, "kept": KEPT, "rows": rows}
    print(table(rows), flush=True)
    write(report, options.out)  # kernels are compiled for every kind of shape that errors are looked for in
    report["errors"] = errors()
    print(json.dumps(report, indent=2))
    write(report, options.out)


def write(report: dict[str, Any], out: Path | None) -> None:
    if out:
        out.write_text(json.dumps(report, indent=2) + "\n")


def in_a_process(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One head in a process of its own, so that no other one's memory is in its way."""
    command = [sys.executable, "-m", "bench.head_gpu", "--shapes", options.shapes, "--only", name]
    src = options.against if name == "against" else Path(__file__).parent.parent / "src"
    said = os.environ | {"PYTHONPATH": f"{src}:."}
    done = subprocess.run(command, env=said, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def timed(run: Callable[[], object]) -> float:
    """The median of some runs in milliseconds."""
    times = []
    for number in range(WARM + TIMES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        if number >= WARM:
            times.append(begin.elapsed_time(end))
    return round(sorted(times)[len(times) // 2], 2)


def product_ms(shape: tuple[int, ...]) -> float:
    """The logits of all tokens in bfloat16, in the order of memory in which the library makes them faster."""
    n_texts, length, n_terms = shape
    rows = torch.randn(n_texts * length, WIDTH, device=device(), dtype=torch.bfloat16)
    weight = torch.randn(n_terms, WIDTH, device=device(), dtype=torch.bfloat16)
    times = []
    for left, right in ((rows, weight), (weight, rows)):
        out = torch.empty(len(left), len(right), device=device(), dtype=torch.bfloat16)
        times.append(timed(partial(torch.mm, left, right.T, out=out)))
        del out
        clear()
    return min(times)


def floor_of(shape: tuple[int, ...]) -> dict[str, float]:
    """What cannot be avoided: operations of one product, and the time that memory needs for what a sparse backward pass
    reads and writes: the gradient once, tokens and rows where there is one, and both gradients."""
    n_texts, length, n_terms = shape
    gradients = 4 * n_terms * WIDTH + 2 * n_texts * length * WIDTH
    read = 4 * n_texts * n_terms + n_texts * KEPT * (1 + 2 * 2 * WIDTH)
    return {
        "product_tflop": round(2 * n_texts * length * n_terms * WIDTH / 1e12, 2),
        "outputs_gib": round((4 * n_texts * n_terms + gradients + 4 * n_terms) / GIB, 3),
        "sparse_backward_memory_ms": round(1000 * (gradients + read) / BYTES_A_SECOND, 3),
    }


def columns(shape: tuple[int, ...], name: str) -> dict[str, Any]:
    """One head at one shape; None where it needs more memory than there is."""
    try:
        return measured(shape, name)
    except torch.cuda.OutOfMemoryError:
        clear()
        return {"forward_ms": None, "dense_ms": None, "sparse_ms": None}


def measured(shape: tuple[int, ...], name: str) -> dict[str, Any]:
    from lexigraft.model.pool import max_over_tokens, max_over_tokens_naive

    n_texts, length, n_terms = shape
    generator = torch.Generator(device()).manual_seed(0)
    hidden = torch.randn(n_texts, length, WIDTH, device=device(), generator=generator).bfloat16().requires_grad_()
    weight = (torch.randn(n_terms, WIDTH, device=device(), generator=generator) * 0.05).requires_grad_()
    bias = torch.zeros(n_terms, device=device(), requires_grad=True)
    mask = torch.ones(n_texts, length, device=device(), dtype=torch.long)

    def pool() -> Tensor:
        with torch.autocast(device().type, dtype=torch.bfloat16):
            return (max_over_tokens_naive if name == "eager" else max_over_tokens)(hidden, mask, weight, bias)

    def both(gradient: Tensor) -> Callable[[], object]:
        return lambda: torch.autograd.grad(pool(), (hidden, weight, bias), gradient)

    found: dict[str, Any] = {}
    with torch.no_grad():
        found["without_tokens_ms"] = timed(pool)
        kind = pool().dtype
    found["forward_ms"] = timed(pool)
    for name_of, share in (("dense", False), ("sparse", True)):
        gradient = torch.randn(n_texts, n_terms, device=device(), generator=generator)
        if share:
            zipf = 1.0 / torch.arange(1, n_terms + 1, device=device(), dtype=torch.float32)
            chosen = torch.multinomial(zipf.expand(n_texts, -1), min(KEPT, n_terms), generator=generator)
            gradient *= torch.zeros_like(gradient).scatter_(1, chosen, 1.0)
            del zipf, chosen
        gradient = gradient.to(kind)
        clear()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        both(gradient)()
        found[f"{name_of}_gib"] = round((torch.cuda.max_memory_allocated() - before) / GIB, 3)
        found[f"{name_of}_ms"] = timed(both(gradient))
        if name == "kernels" and share:
            lengths = torch.randint(length // 2, length + 1, (n_texts, 1), device=device(), generator=generator)
            mask.copy_(torch.arange(length, device=device()) < lengths)
            found["sparse_of_half_to_full_lengths_ms"] = timed(both(gradient))
        del gradient
    return found


def clear() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def errors() -> dict[str, dict[str, float]]:
    """The largest error of values and of gradients over random shapes, as a share of the largest number, by type."""
    from lexigraft.model.pool import max_over_tokens, max_over_tokens_naive

    found: dict[str, dict[str, float]] = {}
    draw = torch.Generator().manual_seed(1)
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        worst = dict.fromkeys(("values", "hidden", "weight", "bias"), 0.0)
        for number in range(24):
            n_texts, length, width, n_terms = (
                int(torch.randint(1, most, (), generator=draw)) for most in (33, 257, 3, 3000)
            )
            width = (0, 130, 384)[width]
            hidden = torch.randn(n_texts, length, width, generator=draw).to(dtype).to(device())
            weight = torch.randn(n_terms, width, generator=draw).to(dtype).float().to(device())
            bias = torch.randn(n_terms, generator=draw).to(device())
            mask = (torch.rand(n_texts, length, generator=draw) < 0.7).long().to(device())
            mask[0] = 0  # an empty text
            given = torch.randn(n_texts, n_terms, generator=draw).to(device()) * mask.any(1, keepdim=True)
            if number % 2:
                given *= (torch.rand(n_texts, n_terms, generator=draw) < 0.02).to(device())
            given *= one_wins(hidden, weight, mask)
            operands = [part.requires_grad_() for part in (hidden, weight, bias)]
            exact = [part.detach().double().requires_grad_() for part in operands]
            best, true = (
                pool(parts[0], mask, *parts[1:])
                for pool, parts in ((max_over_tokens, operands), (max_over_tokens_naive, exact))
            )
            some = mask.bool().any(1)
            ours = (best[some], *torch.autograd.grad(best, operands, given))
            theirs = (true[some], *torch.autograd.grad(true, exact, given.double()))
            for part, one, other in zip(worst, ours, theirs, strict=True):
                if one.numel():
                    error = float(
                        (one.double() - other).abs().max().detach() / other.abs().max().clamp_min(1e-30).detach()
                    )
                    worst[part] = max(worst[part], error)
        found[str(dtype).removeprefix("torch.")] = {part: float(f"{error:.1e}") for part, error in worst.items()}
    return found


def one_wins(hidden: Tensor, weight: Tensor, mask: Tensor) -> Tensor:
    """Where one token's logit is the largest by more than rounding: elsewhere another one may rightly win."""
    logits = hidden.detach().double() @ weight.detach().double().T
    first, second = (
        logits.masked_fill(~mask.bool().unsqueeze(2), -1e30)
        .topk(min(2, logits.shape[1]), dim=1)
        .values[:, [0, -1]]
        .unbind(1)
    )
    return (first - second > 1e-5 * first.abs().clamp_min(1)) | (logits.shape[1] == 1)


def table(rows: list[dict[str, Any]]) -> str:
    """Milliseconds and peak GiB, and in brackets how many bare products that is."""
    names = {"eager": "eager", "against": "former code", "kernels": "kernels"}
    names = {name: shown for name, shown in names.items() if name in rows[0]}
    lines = ["B, L, V | product | " + " | ".join(f"{shown}: forward | dense | sparse" for shown in names.values())]
    for row in rows:
        cells = [", ".join(f"{size:,}" for size in row["shape"]), f"{row['product_ms']}"]
        for name in names:
            found = row[name]
            cells.append(_times(found["forward_ms"], row["product_ms"]))
            for kind in ("dense", "sparse"):
                memory = "" if found[f"{kind}_ms"] is None else f", {found[f'{kind}_gib']} GiB"
                cells.append(_times(found[f"{kind}_ms"], row["product_ms"]) + memory)
        lines.append(" | ".join(cells))
    return "\n".join(lines)


def _times(ms: float | None, product: float) -> str:
    return "out of memory" if ms is None else f"{ms} ({ms / product:.1f})"


if __name__ == "__main__":
    main()
