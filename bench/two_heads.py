"""The same trainings with both heads: our kernels (LEXIGRAFT_HEAD=auto) and torch's products (torch), as JSON.

    python -m bench.two_heads --data COLLECTION --backbone DIR --work WORK --out FILE.json [--config FILE.toml]
        [--seeds 0 1 2] [--steps 400] [--batch 512] [--pretrain 100] [--set section.key=value]
    python -m bench.two_heads --show FILE.json --picture FILE.png

Each head and seed is a `lexigraft run` of BM25 and one model in a folder of its own, all at once: pre-training,
fine-tuning, encoding and measuring with that head. What is told: the loss of every step, and the measures on the
judged queries of whole vectors; the means of both heads, how far seeds of one head lie apart, and the difference.
`--show` makes the picture of a result.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HEADS = {"kernels": "auto", "torch's products": "torch"}
MEASURES = ("MRR@10", "R@10", "nDCG@10", "R@100", "L0_q_before", "L0_d_before")
SYSTEM, COLUMNS = "esplade", 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--backbone", default="embedded")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--config", type=Path, default=Path("bench/cost/debian_desc2title.toml"))
    parser.add_argument("--recipe", type=Path, default=Path("bench/cost/every.toml"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--pretrain", type=int, default=100)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.show:
        draw(json.loads(options.show.read_text()), options.picture)
        return
    runs = trained(options)
    report = {"data": options.data.name, "steps": options.steps, "batch": options.batch, **summary(runs), "runs": runs}
    text = json.dumps(report, indent=1)
    options.out.write_text(text + "\n")
    print(json.dumps({name: value for name, value in report.items() if name != "runs"}, indent=1))


def trained(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What every run found. Whoever cannot be trained is shown with its last words."""
    options.work.mkdir(parents=True, exist_ok=True)
    begun = []
    for head, said in HEADS.items():
        for seed in options.seeds:
            folder = options.work / f"{said}-{seed}"
            log = folder.with_suffix(".log").open("w")
            told = {**os.environ, "LEXIGRAFT_HEAD": said, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "2")}
            process = subprocess.Popen(command(options, folder, seed), env=told, stdout=log, stderr=log)
            begun.append((head, seed, folder, process))
    found = []
    for head, seed, folder, process in begun:
        if process.wait():
            raise SystemExit(f"{head}, seed {seed}: {folder.with_suffix('.log').read_text()[-2000:]}")
        found.append({"head": head, "seed": seed, **read(folder)})
    return found


def command(options: argparse.Namespace, folder: Path, seed: int) -> list[str]:
    settings = [
        f"model.backbone={options.backbone}", f"run.seed={seed}", f'run.systems=["bm25", "{SYSTEM}"]',
        f"pretrain.steps={options.pretrain}", "pretrain.batch=512", "finetune.validate_every=0",
        f"systems.{SYSTEM}.finetune.steps={options.steps}", f"systems.{SYSTEM}.finetune.batch={options.batch}",
        "evaluate.timing_queries=5", "evaluate.timing_runs=1", *options.set,
    ]  # fmt: skip
    files = ["--recipe", str(options.recipe), "--config", str(options.config)]
    changes = [part for one in settings for part in ("--set", one)]
    return [
        sys.executable, "-m", "lexigraft", "run", *files, "--data", str(options.data), "--out", str(folder), *changes
    ]  # fmt: skip


def read(folder: Path) -> dict[str, Any]:
    history = json.loads((folder / "models" / SYSTEM / "finetuned/history.json").read_text())
    judged = folder / "judged" / SYSTEM / "evaluation-qk0-dk0"
    row = json.loads((judged / "row.json").read_text())
    return {
        **{measure: round(row[measure], 5) for measure in MEASURES if measure in row},
        "loss": [round(values["loss"], 4) for values in history],
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means by head, the standard deviation of seeds, and the difference of the means with its standard error."""
    found: dict[str, Any] = {}
    for measure in (name for name in MEASURES if name in runs[0]):
        ours, theirs = ([run[measure] for run in runs if run["head"] == head] for head in HEADS)
        spread = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in (ours, theirs)]
        error = (sum(value**2 / len(ours) for value in spread)) ** 0.5
        means = [statistics.mean(values) for values in (ours, theirs)]
        found[measure] = {
            "means": dict(zip(HEADS, (round(mean, 4) for mean in means), strict=True)),
            "of_seeds": dict(zip(HEADS, (round(value, 4) for value in spread), strict=True)),
            "difference": round(means[0] - means[1], 4),
            "standard_error": round(error, 4),
        }
    last = max(1, len(runs[0]["loss"]) // COLUMNS)
    found["last_loss"] = {head: round(statistics.mean(ends), 4) for head in HEADS if (ends := _ends(runs, head, last))}
    found["largest_distance_of_curves"] = _distance(runs, last)
    return {"summary": found}


def _ends(runs: list[dict[str, Any]], head: str, last: int) -> list[float]:
    return [value for run in runs if run["head"] == head for value in run["loss"][-last:]]


def _distance(runs: list[dict[str, Any]], width: int) -> dict[str, float]:
    """Between curves smoothed over `width` steps: the largest between the means of the heads after the first width, and
    beside it the largest between two seeds of one head."""
    smooth = {head: [_smoothed(run["loss"], width) for run in runs if run["head"] == head] for head in HEADS}
    means = [[statistics.mean(values) for values in zip(*curves, strict=True)] for curves in smooth.values()]
    heads = max(abs(one - other) for one, other in zip(*means, strict=True))
    seeds = max(
        max(values) - min(values) for curves in smooth.values() for values in zip(*curves, strict=True)
    )  # fmt: skip
    return {"of_heads": round(heads, 4), "of_seeds": round(seeds, 4)}


def _smoothed(values: list[float], width: int) -> list[float]:
    return [statistics.mean(values[start : start + width]) for start in range(width, len(values) - width + 1, width)]


def draw(report: dict[str, Any], picture: Path) -> None:
    """The loss of every run, smoothed, in the colour of its head."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    width = max(1, report["steps"] // 40)
    for head, (colour, thick) in zip(HEADS, (("tab:orange", 3.5), ("black", 0.8)), strict=True):
        for number, run in enumerate(run for run in report["runs"] if run["head"] == head):
            curve = [statistics.mean(run["loss"][at : at + width]) for at in range(0, report["steps"], width)]
            label = f"{head}, {len({run['seed'] for run in report['runs']})} seeds" if number == 0 else None
            axes.plot(range(0, report["steps"], width), curve, color=colour, lw=thick, alpha=0.8, label=label)
    axes.set(xlabel="step", ylabel="loss", title=f"{report['data']}: fine-tuning with both heads", yscale="log")
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main()
