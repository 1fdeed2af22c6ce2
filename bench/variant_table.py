"""What trainings of `bench.variants` say together: means over seeds, and paired tests against no addition.

    python -m bench.variant_table RESULT.json [RESULT.json ...] --out docs/results/ceiling.json

Prints a table in Markdown, and writes the numbers without the single queries. Of a variant two rows count: whole
vectors, and the row at the (qk, dk) that validation chose. p: paired t-test over queries of reciprocal ranks, each
averaged over the seeds that both have. Where two files have the same training, the first counts.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

REFERENCES = {
    "looked_up": "looked_up",
    "mlm_long": "base_long",
}  # what a variant is compared with, by how its name begins
REFERENCE = "base"
ROWS = ("at its cost", "whole")
Training = dict[str, Any]


def rows_of(training: Training) -> dict[str, dict[str, Any]]:
    """The row of whole vectors, and that at the chosen (qk, dk) where there is one."""
    whole = [row for row in training["rows"] if (row["qk"], row["dk"]) == (0, 0)]
    cut = [row for row in training["rows"] if (row["qk"], row["dk"]) != (0, 0)]
    return {name: rows[0] for name, rows in zip(ROWS, (cut, whole), strict=True) if rows}


def reference_of(variant: str) -> str:
    return next((known for start, known in REFERENCES.items() if variant.startswith(start)), REFERENCE)


def compared(ours: Sequence[Training], theirs: Sequence[Training], row: str) -> dict[str, Any]:
    """The difference of the mean reciprocal ranks of two variants, over the seeds that both have."""
    pairs = [
        (rows_of(one)[row]["RR"], rows_of(other)[row]["RR"])
        for one in ours
        for other in theirs
        if one["seed"] == other["seed"] and row in rows_of(one) and row in rows_of(other)
    ]
    if not pairs:
        return {}
    mine, others = (np.mean([pair[side] for pair in pairs], axis=0) for side in (0, 1))
    p_value = float(f"{ttest_rel(mine, others).pvalue:.2g}")
    return {"difference": round(float((mine - others).mean()), 4), "p": p_value, "seeds": len(pairs)}


def summary(trainings: Sequence[Training]) -> dict[str, Any]:
    """By collection and variant: every seed, the mean, and how it compares."""
    found: dict[str, Any] = {}
    for collection in dict.fromkeys(one["collection"] for one in trainings):
        here = [one for one in trainings if one["collection"] == collection]
        bm25 = here[0]["bm25"][0]
        found[collection] = {"bm25": {name: round(bm25[name], 4) for name in ("MRR@10", "FLOPS")}}
        for variant in dict.fromkeys(one["variant"] for one in here):
            ours = sorted((one for one in here if one["variant"] == variant), key=lambda one: one["seed"])
            theirs = [one for one in here if one["variant"] == reference_of(variant)]
            found[collection][variant] = described(ours, theirs, variant != reference_of(variant))
    return found


def described(ours: Sequence[Training], theirs: Sequence[Training], compare: bool) -> dict[str, Any]:
    said: dict[str, Any] = {
        "seeds": [one["seed"] for one in ours], "seconds": [one["seconds"] for one in ours],
        "settings": ours[0]["settings"], "teachers": ours[0]["teachers"], "backbone": ours[0].get("backbone", ""),
        "MRR@10 on held-out queries": [round(one["point"]["mrr"], 4) for one in ours if one["point"]],
    }  # fmt: skip
    for name in ROWS:
        rows = [rows_of(one)[name] for one in ours if name in rows_of(one)]
        if rows:
            each = {measure: [row[measure] for row in rows] for measure in ("MRR@10", "FLOPS")}
            said[name] = {
                "MRR@10": round(float(np.mean(each["MRR@10"])), 4),
                "of each seed": [round(value, 4) for value in each["MRR@10"]],
                "FLOPS": [value and round(value, 4) for value in each["FLOPS"]],
                **(compared(ours, theirs, name) if compare else {}),
            }
    return said


def table(found: dict[str, Any]) -> str:
    """A row a variant, a column a collection: MRR@10 at its cost | whole, and the differences."""
    variants = dict.fromkeys(name for said in found.values() for name in said)
    lines = [f"| | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    for variant in variants:
        cells = [cell(said[variant]) if variant in said else "" for said in found.values()]
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(said: dict[str, Any]) -> str:
    if "MRR@10" in said:
        return f"{said['MRR@10']:.3f}".lstrip("0")
    parts = []
    for name in ROWS:
        if name in said:
            row = said[name]
            ahead = f" ({row['difference']:+.4f}, p = {row['p']:.2g})" if "difference" in row else ""
            parts.append(f"{row['MRR@10']:.4f}".lstrip("0") + ahead)
    return " \\| ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    first: dict[tuple[str, int, str], Training] = {}
    for path in options.results:
        for one in json.loads(path.read_text()):
            first.setdefault((one["collection"], one["seed"], one["variant"]), one)
    found = summary(list(first.values()))
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
