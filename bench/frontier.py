"""What the models of a run are worth at given costs, beside what whole vectors are.

    python -m bench.frontier RUN --costs 0.16 0.08 0.04 [--out FILE]

For each cost in FLOPS, (qk, dk) are chosen on the queries that fine-tuning held out, as `lexigraft run` does it for one
cost, and their cost and MRR@10 are those of the measured queries. Weights are not quantised.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from lexigraft.comparison.affordable import Asked, affordable_prunings, mean_reciprocal_ranks, pruning_costs
from lexigraft.comparison.operating_points import with_rows
from lexigraft.comparison.validation import UNTIMED, validation_queries
from lexigraft.core.systems import System
from lexigraft.core.types import SparseMatrix
from lexigraft.stages.evaluate import encode_judged
from lexigraft.stages.finished_run import FinishedRun, open_run
from lexigraft.stages.layout import JUDGED
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import open_vectors


def row(asked: Asked, documents: SparseMatrix, qk: float, dk: int) -> dict[str, Any]:
    """One pruning on some queries."""
    cut = prune(asked.queries, qk)
    (mrr,) = mean_reciprocal_ranks([cut], [dk], asked.relevant, documents)
    (costs,) = pruning_costs([cut], documents)
    return {"qk": qk, "dk": dk, "MRR@10": mrr, "FLOPS": float(costs[dk - 1])}  # dk = 0: the last, of all terms


def frontier(run: FinishedRun, system: System, costs: list[float]) -> list[dict[str, Any]]:
    """A row for each cost that some pruning fits, then that of whole vectors."""
    opened = open_vectors(run.folder.vectors(JUDGED, system.name), checksums=False)
    index, documents, split = run.folder.index(JUDGED, system.name, 0), opened.matrix, run.measured_split()
    chosen_on = validation_queries(run, system=system)
    held_out, measured = (
        with_rows(encode_judged(run.collection, of, index, UNTIMED, qrels), documents.row_ids, opened.passages)
        for of, qrels in ((chosen_on.split, chosen_on.qrels), (split, None))
    )
    rows = []
    for cost in costs:
        found, _ = affordable_prunings(held_out, documents, cost)
        if found:
            best = max(found, key=lambda one: one.mrr)
            rows.append({"limit": cost, **row(measured, documents, best.qk, best.dk), "held out": best.mrr})
    return [*rows, row(measured, documents, 0, 0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--costs", type=float, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    run = open_run(options.run)
    found = {one.name: frontier(run, one, options.costs) for one in run.systems() if one.is_model}
    if options.out:
        options.out.write_text(json.dumps(found, indent=1))
    for system, rows in found.items():
        shown = "; ".join(f"({one['qk']},{one['dk']}) {one['MRR@10']:.4f} @ {one['FLOPS']:.3f}" for one in rows)
        print(f"{options.run.name} {system}: {shown}", flush=True)


if __name__ == "__main__":
    main()
