"""One JSON file of what the corpus vocabulary study left, and its tables.

    python -m bench.corpus_tables gather --out runs/study --results docs/results/corpus_vocabulary.json
    python -m bench.corpus_tables show docs/results/corpus_vocabulary.json

`--out` is the folder of `bench.steps bench/plans/corpus_vocabulary_steps.toml`; what is not there yet is left out, and
what a former file of results says of `how` is kept.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from lexigraft.measure.compare import paired_test
from lexigraft.stages.tables import markdown_table

MEASURED = ("qk", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "R@10", "nDCG@10", "R@100", "terms")
ENCODER = ("subwords", "texts", "steps", "loss", "accuracy", "seconds")
COUNTED = ("SCORE 1000", "DOCUMENTS 1000")  # postings and documents; former results have the latter alone
STATISTICS = ("collection", "split", "queries", "documents", "timed_queries", "runs", "threads", "systems")
# What is told apart by a paired t-test of MRR@10: a model and the one before it; every model and BM25 are, too.
PAIRS = [
    *((f"{kind}-{here}", f"{kind}-{there}")
      for kind in ("splade-doc", "unicoil") for here, there in (("30k", "bert"), ("large", "30k"))),
    *((f"splade-doc-{here}-own", f"splade-doc-{there}-own") for here, there in (("30k", "bert"), ("large", "30k"))),
    *((f"splade-doc-{name}-own", f"splade-doc-{name}") for name in ("bert", "30k", "large")),
    *((f"unicoil-{name}-tilde", f"unicoil-{name}") for name in ("bert", "30k", "large")),
    ("unicoil-30k-tilde", "unicoil-bert-tilde"), ("unicoil-large-tilde", "unicoil-30k-tilde"),
    ("unicoil-large-tilde-all", "unicoil-large-tilde"), ("unicoil-large-borda", "unicoil-large-tilde"),
    ("unicoil-large-second", "unicoil-large-tilde"), ("unicoil-large-negatives", "unicoil-large-tilde"),
    ("unicoil-large-distilled", "unicoil-large-negatives"), ("unicoil-large-distilled", "unicoil-large-tilde"),
    ("unicoil-large-borda-negatives", "unicoil-large-borda"),
    ("unicoil-large-borda-distilled", "unicoil-large-borda-negatives"),
    ("unicoil-large-borda-distilled", "unicoil-large-borda"),
    ("unicoil-large-borda-distilled", "unicoil-large-distilled"),
    ("unicoil-large-all-of-it", "unicoil-large-borda-distilled"),
    ("splade-doc-30k-negatives", "splade-doc-30k"), ("splade-doc-30k-distilled", "splade-doc-30k-negatives"),
    ("splade-doc-30k-distilled", "splade-doc-30k"),
]  # fmt: skip


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def gather(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"encoders": {}, "runs": {}, "teachers": {}, "pairs": {}, "statistics": {}}
    for file in sorted(out.glob("backbones/*.json")):
        found["encoders"][file.stem] = {key: value for key, value in read(file).items() if key in ENCODER}
    for file in sorted(out.glob("results/*.json")):
        if file.stem.startswith("quality-"):
            found["teachers"][file.stem.removeprefix("quality-")] = list(read(file)["systems"].values())
            continue
        for run in read(file)["runs"]:
            rows = [{key: row[key] for key in MEASURED if key in row} for row in run.get("rows", [])]
            facts = {"rows": rows, "seconds": run["seconds"], "kept": run.get("finetuned", {}).get("kept")}
            facts |= {key: run[key] for key in ("settings", "failed") if key in run}
            found["runs"].setdefault(run["collection"], {})[run["arm"]] = facts
    found["settings"] = common_settings(found["runs"])
    for collection, arms in found["runs"].items():
        pairs = [*PAIRS, *((arm, "bm25") for arm in arms)]
        found["pairs"][collection] = [pair for pair in (told_apart(out, collection, names) for names in pairs) if pair]
        arms["bm25"] = {"rows": bm25(out, collection)}
    for file in sorted(out.glob("stats-*/stats.json")):
        all_of_it = read(file)
        kept = {key: all_of_it[key] for key in STATISTICS if key in all_of_it}
        maxima = [{**one, **{part: _without_curve(one[part]) for part in ("non_empty", "all")}}
                  for one in all_of_it["list_maxima"]["systems"]]  # fmt: skip
        found["statistics"][file.parent.name.removeprefix("stats-")] = {**kept, "list_maxima": maxima}
    return found


def common_settings(runs: dict[str, dict[str, Any]]) -> list[str]:
    """Those that all runs have; every run keeps those of its own."""
    facts = [one for arms in runs.values() for one in arms.values()]
    common = [text for text in facts[0]["settings"] if all(text in one["settings"] for one in facts)] if facts else []
    for one in facts:
        one["settings"] = [text for text in one["settings"] if text not in common]
    return common


def told_apart(out: Path, collection: str, names: tuple[str, str]) -> dict[str, Any] | None:
    """The difference in MRR@10 of two models of a collection, where both are there."""
    judged = [out / "runs" / collection / name / "judged" / ("bm25" if name == "bm25" else "esplade") for name in names]
    files = [folder / "evaluation-qk0-dk0/per_query.json" for folder in judged]
    if not all(file.is_file() for file in files):
        return None
    here, there = (read(file)["MRR@10"] for file in files)
    test = paired_test([here[query] - there[query] for query in here])
    return {"model": names[0], "to": names[1], "difference": test.difference, "p": test.p}


def bm25(out: Path, collection: str) -> list[dict[str, Any]]:
    files = out.glob(f"runs/{collection}/bm25/judged/bm25/evaluation-*/row.json")
    return [{key: row[key] for key in MEASURED if key in row} for row in map(read, files)]


def _without_curve(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != "share_above"}


def indexes(statistics: dict[str, Any]) -> str:
    """Tables 1 and 6 and Figure 3 in a few columns: Block-Max WAND is what the study times, MaxScore what it counts."""
    maxima = {one["name"]: one["non_empty"] for one in statistics["list_maxima"]}
    head = ["model", "|V|", "|Q|", "split", "|D|", "postings", "ms", "ms BMW", "ms BMW 1000", *COUNTED, "Gini"]
    rows = []
    for one in statistics["systems"]:
        ms = {(search["method"], search["k"]): search["ms"]["mean"] for search in one["searches"]}
        done = next((done for done in one["operations"] if done["k"] == 1000), {})
        counted = [f"{done[name]:,.0f}" if name in done else "" for name in ("SCORE", "DOCUMENTS")]
        times = [ms["auto", 10], ms["blockmax_wand", 10], ms["blockmax_wand", 1000]]
        split = one.get("split_queries")
        rows.append([
            one["name"], f"{one['terms']:,}", f"{one['query_terms']:.1f}", "" if split is None else f"{split:.3f}",
            f"{one['document_terms']:.0f}", f"{one['postings_per_query']:,.0f}", *(f"{time:.3f}" for time in times),
            *counted, f"{maxima[one['name']]['gini']:.3f}",
        ])  # fmt: skip
    return "\n".join(markdown_table(head, rows))


def show(found: dict[str, Any]) -> None:
    for collection, arms in found["runs"].items():
        head = ["model", "dk", "L0_q", "L0_d", "FLOPS", "MRR@10", "R@10", "R@100"]
        rows = [
            [arm, str(row["dk"]), f"{row['L0_q']:.1f}", f"{row['L0_d']:.0f}", f"{row['FLOPS']:.3f}"]
            + [f"{row[name]:.4f}" for name in ("MRR@10", "R@10", "R@100")]
            for arm, facts in arms.items()
            for row in facts["rows"]
        ]
        rows += [[arm, "", "failed: " + facts["failed"]] for arm, facts in arms.items() if "failed" in facts]
        print("\n".join(["", collection, "", *markdown_table(head, rows)]))
        pairs = [[pair["model"], pair["to"], f"{pair['difference']:+.4f}", f"{pair['p']:.2g}"]
                 for pair in found["pairs"][collection]]  # fmt: skip
        print("\n".join(["", *(markdown_table(["model", "to", "MRR@10", "p"], pairs) if pairs else ())]))
    for name, statistics in found["statistics"].items():
        print(
            f"\n{name}: {statistics['timed_queries']} of {statistics['queries']} queries, {statistics['runs']} runs\n"
        )
        print(indexes(statistics))
    for name, systems in found["teachers"].items():
        print(f"\nteacher {name}: MRR@10 {systems[0]['MRR@10']:.4f}, BM25 {systems[1]['MRR@10']:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    gathering = actions.add_parser("gather")
    gathering.add_argument("--out", type=Path, required=True)
    gathering.add_argument("--results", type=Path, required=True)
    actions.add_parser("show").add_argument("results", type=Path)
    options = parser.parse_args()
    if options.action == "gather":
        how = read(options.results).get("how", {}) if options.results.is_file() else {}
        options.results.write_text(json.dumps({"how": how, **gather(options.out)}, indent=1) + "\n", encoding="utf-8")
    else:
        show(read(options.results))


if __name__ == "__main__":
    main()
