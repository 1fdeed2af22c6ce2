"""What texts alone are worth: runs with made pairs over judged collections and seeds, against BM25, as JSON.

    python -m bench.no_judgements DIR... --out RUNS --seeds 0 1 2 [--set finetune.steps=400 ...]

Training judgements of the collections are not used (`--pairs made`); test judgements are only measured on. A query's
value is its mean over the seeds, and p that of a paired t-test over queries. Runs that are there are continued.
"""

import argparse
import json
import sys
from pathlib import Path

import lexigraft as lg
from lexigraft.measure.compare import paired_test
from lexigraft.stages.layout import RunFolder

MEASURE = "nDCG@10"
GPU = {
    "model.layers": 0, "model.document_length": 128, "model.query_length": 32, "pretrain.steps": 50,
    "finetune.learning_rate": 3e-4, "finetune.frozen_layers": 2, "finetune.checkpoint_every": 300,
    "data.on_duplicate": "skip",
}  # fmt: skip

TAUGHT = {
    "model.queries": "table", "run.systems": ["bm25", "dense", "esplade-doc", "blend"], "finetune.teachers": ["dense"],
    "dense.steps": 100, "dense.learning_rate": 2e-5,
}  # fmt: skip


def per_query(folder: RunFolder, view: str, system: str) -> dict[str, float]:
    """What each query is worth where the system is searched as the run chose."""
    point = json.loads(folder.operating_points.read_text()).get(system, {"qk": 0, "dk": 0})
    place = folder.evaluation(system, point["qk"], point["dk"], view)
    values: dict[str, float] = json.loads((place / "per_query.json").read_text())[MEASURE]
    return values


def compared(runs: list[RunFolder], systems: list[str]) -> dict[str, float | None]:
    """A system of each run against BM25: means over seeds, and the test over queries."""
    view = "full"
    bm25 = per_query(runs[0], view, "bm25")
    found = [per_query(run, view, system) for run, system in zip(runs, systems, strict=True)]
    mean = {query: sum(one[query] for one in found) / len(found) for query in bm25}
    test = paired_test([round(mean[query] - bm25[query], 12) for query in bm25])  # a mean of equals is rounded
    return {"bm25": sum(bm25.values()) / len(bm25), "mean": sum(mean.values()) / len(mean), "p": test.p}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], help="over the settings of the script, section.key=value")
    parser.add_argument("--cpu", action="store_true", help="the usual settings, not those for a GPU")
    parser.add_argument("--taught", action="store_true", help="a dense system of the same backbone teaches the model")
    options = parser.parse_args()
    more = dict(one.split("=", 1) for one in options.set)
    for data in options.data:
        runs, recommended = [], []
        for seed in options.seeds:
            values = {
                **({} if options.cpu else GPU),
                **(TAUGHT if options.taught else {}),
                **{k: _value(v) for k, v in more.items()},
            }
            values |= {"data.pairs": "made", "run.seed": seed}
            run = lg.run(data, options.out / f"{data.name}-{seed}", set=values)
            runs.append(RunFolder(run.folder))
            recommended.append(run.report["recommended"]["system"])
        systems = sorted({row["system"] for row in run.report["rows"]} - {"bm25"})
        found = {
            "collection": data.name, "recommended": recommended, "as recommended": compared(runs, recommended),
            **{system: compared(runs, [system] * len(runs)) for system in systems},
        }  # fmt: skip
        print(json.dumps(found), flush=True)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
