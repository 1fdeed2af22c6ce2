"""The tables and the picture of a study's results: MRR@10 by pruning, and by cost.

    python -m bench.training_tables docs/results/training_arms.json [--picture FILE.png]

Beside the rows at equal (qk, dk), arms are compared at equal FLOPS: between two rows of an arm its MRR@10 is
interpolated linearly in log FLOPS; outside of its rows nothing is said.
"""

import argparse
import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from lexigraft.stages.pictures import finish, new_figure, save_figure
from lexigraft.stages.tables import markdown_table

LARGE = "-large"
SHARES = (1.0, 0.5, 0.25, 0.125)  # of BM25's FLOPS


def at_flops(rows: list[dict[str, Any]], flops: float) -> float | None:
    """MRR@10 of an arm at a cost."""
    curve = sorted((row["FLOPS"], row["MRR@10"]) for row in rows)
    for (low, worse), (high, better) in pairwise(curve):
        if low <= flops <= high:
            share = (math.log(flops) - math.log(low)) / (math.log(high) - math.log(low)) if high > low else 1.0
            return float(worse + share * (better - worse))
    return None


def tables(results: dict[str, Any]) -> Iterator[str]:
    for collection, reference in results["bm25"].items():
        runs = [run for run in results["runs"] if run["collection"] == collection]
        budgets = [(row["qk"], row["dk"]) for row in runs[0]["rows"]]
        yield f"\n`{collection}`: BM25 {reference['MRR@10']:.4f} @ {reference['FLOPS']:.3f}\n"
        by_pruning, by_cost = [], []
        for run in runs:
            rows = run.get("rows", [])
            cells = [f"{row['MRR@10']:.4f} @ {row['FLOPS']:.3f}" for row in rows]
            by_pruning.append([run["arm"], *(cells or [f"failed: {run.get('failed')}"])])
            found = (at_flops(rows, share * reference["FLOPS"]) for share in SHARES)
            by_cost.append([run["arm"], *("–" if value is None else f"{value:.3f}" for value in found)])
        yield from markdown_table(["arm", *(f"({qk},{dk})" for qk, dk in budgets)], by_pruning)
        yield ""
        yield from markdown_table(["arm", *(f"at {share:g} of BM25's FLOPS" for share in SHARES)], by_cost)


def draw(results: dict[str, Any], picture: Path) -> None:
    collections = list(results["bm25"])
    figure, axes = new_figure(1, len(collections), (6.2 * len(collections), 4.6))
    arms = dict.fromkeys(run["arm"].removesuffix(LARGE) for run in results["runs"])
    colours = {arm: f"C{number}" for number, arm in enumerate(sorted(arms))}
    for axis, collection in zip(axes[0], collections, strict=True):
        reference = results["bm25"][collection]
        for run in results["runs"]:
            if run["collection"] == collection and run.get("rows"):
                curve = sorted((row["FLOPS"], row["MRR@10"]) for row in run["rows"])
                style = {"linestyle": "--" if run["arm"].endswith(LARGE) else "-", "marker": "o", "markersize": 3}
                colour = colours[run["arm"].removesuffix(LARGE)]
                axis.plot(*zip(*curve, strict=True), label=run["arm"], color=colour, **style)
        star = {"marker": "*", "s": 140, "color": "black", "label": "bm25", "zorder": 5}
        axis.scatter([reference["FLOPS"]], [reference["MRR@10"]], **star)
        axis.axvline(reference["FLOPS"], color="grey", linewidth=0.8, linestyle=":")
        axis.axhline(reference["MRR@10"], color="grey", linewidth=0.8, linestyle=":")
        axis.set(xscale="log", xlabel="FLOPS", ylabel="MRR@10", title=collection)
        finish(axis)
    figure.legend(*axes[0][-1].get_legend_handles_labels(), fontsize=8, loc="outside center right")
    save_figure(figure, picture, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    results = json.loads(options.results.read_text())
    print("\n".join(tables(results)))
    if options.picture:
        draw(results, options.picture)


if __name__ == "__main__":
    main()
