"""Tables of a wackiness study, and one JSON file of its numbers, from what its runs left.

    python -m bench.wackiness_tables --collection tldr_pages --seed 0 --result W0/tldr_pages/result.json \
        --trained w0.json [--rm3 RM3/result.json] [--merged docs/results/wackiness.json]

`--result` is of `lexigraft wackiness`, `--trained` the file of `bench.training_study`. Systems of `--rm3` are
put beside those of `--result`, and the letters that tell systems apart are worked out again over all of them: draw r of
one folder has the same inputs as draw r of another over the same collection, number of inputs and seed.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.explain.wackiness_curve import significance_letters
from lexigraft.stages.tables import markdown_table

KEPT = (
    "W-AUC", "two_sigma", "W-AUC_whole_vocabulary", "coverage", "terms", "terms_seen", "terms_of_score_1",
    "expansion_terms_an_input", "inputs", "n_drawn", "term_of_the_largest_mean", "largest_mean", "areas",
)  # fmt: skip
MEASURED = ("qk", "dk", "MRR@10", "FLOPS", "L0_q", "L0_d")
HEAD = ("system", "W-AUC", "group", "over all terms", "terms", "used", "of score 1", "added")
LEAST_SHOWN = 300  # fewer removed terms than this change nothing that could be told apart


def gathered(results: list[dict[str, Any]], trained: dict[str, Any], collection: str) -> dict[str, Any]:
    """What is kept of a collection and seed."""
    measured = {run["arm"]: run["rows"] for run in trained["runs"] if run["collection"] == collection and "rows" in run}
    sides: dict[str, list[dict[str, Any]]] = {}
    for side in results[0]["sides"]:
        entries = [entry for result in results for entry in result["sides"].get(side, [])]
        for result in results[1:]:
            for system, entry in zip(result["systems"], result["sides"].get(side, []), strict=False):
                entry["name"] = system["system"]
        letters = significance_letters([np.array(entry["areas"]) for entry in entries])
        sides[side] = [
            {"name": entry["name"], "letters": letter, **{key: entry[key] for key in KEPT if key in entry},
             "top_terms": [(term["term"], term["kind"]) for term in entry["top_terms"]]}
            for entry, letter in zip(entries, letters, strict=True)
        ]  # fmt: skip
        sides[side].sort(key=lambda entry: entry["W-AUC"])
    trained_rows = {
        arm: [{key: row[key] for key in MEASURED} for row in rows if row["system"] != "bm25"]
        for arm, rows in measured.items()
    }
    removal = [entry for result in results for entry in result["removal"]]
    pruning = [entry for result in results for entry in result["pruning"]]
    return {"sides": sides, "trained": trained_rows, "removal": removal, "pruning": pruning}


def verdicts(entry: dict[str, Any], measure: str) -> list[tuple[int, float, float, float, str]]:
    """(terms removed, without the wackiest, without random ones, two standard deviations, which is lower)."""
    values, rows = entry["measures"][measure], []
    for place, removed in enumerate(entry["removed"][:-1]):
        wacky, mean, spread = values["wacky"][place], values["random"][place], 2 * values["random_std"][place]
        said = "below" if wacky < mean - spread else "above" if wacky > mean + spread else "within"
        rows.append((removed, wacky, mean, spread, said))
    return rows


def row_of(entry: dict[str, Any]) -> list[str]:
    """What the table of a side says of a system."""
    return [
        entry["name"], f"{entry['W-AUC']:.4f} ± {entry['two_sigma']:.4f}", entry["letters"],
        f"{entry['W-AUC_whole_vocabulary']:.4f}", f"{entry['terms']:,}", f"{entry['coverage']:.0%}",
        f"{entry['terms_of_score_1'] / entry['terms_seen']:.0%}", f"{entry['expansion_terms_an_input']:.1f}",
    ]  # fmt: skip


def show(name: str, found: dict[str, Any]) -> None:
    for side, entries in found["sides"].items():
        print(f"\n{name}, {side}\n")
        print("\n".join(markdown_table(HEAD, map(row_of, entries))))
    for domain, measures in (("in-domain", ("MRR@10", "R@10", "R@100", "R@1000")), ("out-of-domain", ("nDCG@10",))):
        for measure in measures:
            for entry in (entry for entry in found["removal"] if entry["domain"] == domain):
                values = entry["measures"][measure]
                rows = [
                    f"{removed}: {wacky:.4f} ({mean:.4f} ± {spread:.4f}, {said})"
                    for removed, wacky, mean, spread, said in verdicts(entry, measure)
                    if removed >= LEAST_SHOWN
                ]
                lines = f"full {values['full']:.4f}, none {values['none']:.4f}"
                print(f"{domain} {entry['collection']} {measure} {entry['name']}: {lines}; " + "; ".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--result", type=Path, required=True)
    parser.add_argument("--trained", type=Path, required=True)
    parser.add_argument("--rm3", type=Path)
    parser.add_argument("--merged", type=Path, help="a JSON file to put the numbers into, beside those of others")
    options = parser.parse_args()
    results = [json.loads(path.read_text()) for path in (options.result, options.rm3) if path is not None]
    found = gathered(results, json.loads(options.trained.read_text()), options.collection)
    name = f"{options.collection}, seed {options.seed}"
    show(name, found)
    if options.merged is not None:
        everything = json.loads(options.merged.read_text()) if options.merged.exists() else {}
        everything[name] = found
        options.merged.write_text(json.dumps(dict(sorted(everything.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
