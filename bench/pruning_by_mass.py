"""Documents cut to a number of terms, by their mass, or by the better of both, at equal cost.

    python -m bench.pruning_by_mass RUN [RUN ...] [--system NAME] [--costs 0.25 0.5 1] [--out FILE.json]

For each learned model of a finished run, and each share of what BM25 costs on validation queries: the pruning (qk, dk)
that ranks best there at no more than that, of those that `prune.by` = count, mass and both look at; then its MRR@10 and
its FLOPS on the queries that the run measures, and the paired difference to count's. Cuts of queries are the same for
all three ("queries": "same"), and once more as `prune.by` has them, where mass and both may cut queries by mass, too
("as set"). What costs the same on validation queries may not on others, so there is a fourth row, "matched": count's qk
and the largest mass that costs no more than count's choice on the measured queries themselves. Weights are not
quantised and nothing is indexed, as where a run chooses. Prints JSON.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.affordable import (
    BOTH,
    COUNT,
    MASS,
    QUERY_CUTS,
    Affordable,
    affordable_within,
    best_ranks,
    mean_reciprocal_ranks,
    pruning_costs,
    query_cuts_of,
    reciprocal,
)
from lexigraft.core.cut import QueryCut, mass_cut
from lexigraft.core.systems import System
from lexigraft.core.types import SparseMatrix
from lexigraft.measure.compare import paired_test
from lexigraft.stages.finished_run import FinishedRun, open_run
from lexigraft.study.points import BM25, Sides, sides_of
from lexigraft.vectors.prune import prune
from lexigraft.vectors.weight_ranks import HUNDREDTHS

COSTS = (0.25, 0.5, 1.0)
SAME, AS_SET, MATCHED = "same", "as set", "matched"


def flops(queries: SparseMatrix, documents: SparseMatrix) -> float:
    """Postings touched by a query, per document."""
    asked = np.bincount(queries.term_ids, minlength=queries.n_terms).astype(np.float64)
    held = np.bincount(documents.term_ids, minlength=documents.n_terms).astype(np.float64)
    return float(asked @ held) / max(1, queries.n_rows * documents.n_rows)


def measure_run(path: Path, names: Sequence[str], costs: Sequence[float]) -> list[dict[str, Any]]:
    """One row a model, a cost, a way to cut queries and a way to cut documents."""
    run = open_run(path)
    rows = []
    for system in run.systems():
        if system.is_model and (not names or system.name in names):
            rows += [{"run": str(path), "system": system.name, **row} for row in measure_system(run, system, costs)]
    return rows


def measure_system(run: FinishedRun, system: System, costs: Sequence[float]) -> list[dict[str, Any]]:
    bm25, ours = sides_of(run, system, BM25), sides_of(run, system, system.name)
    limits = [share * flops(bm25.held_out.queries, bm25.documents) for share in costs]
    words_alone = system.settings.model.queries == "words"  # terms that all weigh 1 have no heaviest to keep
    rows = []
    for queries, cuts_of in ((SAME, lambda _: QUERY_CUTS), (AS_SET, query_cuts_of)):
        chosen: dict[tuple[int, str], Affordable] = {}
        for by in (COUNT, MASS, BOTH):
            cuts: Sequence[QueryCut] = () if words_alone else cuts_of(by)
            found, _ = affordable_within(ours.held_out, ours.documents, limits, cuts, by)
            for at, within in enumerate(found):
                if within:
                    chosen[at, by] = max(within, key=lambda one: (one.mrr, -one.flops))
        chosen |= {(at, MATCHED): _matched(ours, point) for (at, by), point in chosen.items() if by == COUNT}
        measured = _measured(ours, list(chosen.values()), flops(bm25.measured.queries, bm25.documents))
        reciprocals = {place: values for place, (values, _) in zip(chosen, measured, strict=True)}
        for (at, by), (values, facts) in zip(chosen, measured, strict=True):
            baseline = reciprocals.get((at, COUNT))
            rows.append({
                "cost": costs[at], "limit_flops": limits[at], "queries": queries, "by": by, **_said(chosen[at, by]),
                **facts, **({} if by == COUNT or baseline is None else _against(values, baseline)),
            })  # fmt: skip
    return rows


def _matched(sides: Sides, by_count: Affordable) -> Affordable:
    """The same cut of queries and the largest mass of documents that costs no more on the measured queries."""
    queries = prune(sides.measured.queries, by_count.qk)
    (costs,) = pruning_costs([queries], sides.documents, by_mass=True)
    hundredths = int(np.searchsorted(costs, flops(queries, prune(sides.documents, by_count.dk)), side="right"))
    dk = 0 if hundredths >= HUNDREDTHS else mass_cut(max(1, hundredths) / HUNDREDTHS)
    held_out = prune(sides.held_out.queries, by_count.qk)
    (mrr,) = mean_reciprocal_ranks([held_out], [dk], sides.held_out.relevant, sides.documents)
    return Affordable(by_count.qk, dk, flops(held_out, prune(sides.documents, dk)), mrr)


def _said(point: Affordable) -> dict[str, Any]:
    return {"qk": point.qk, "dk": point.dk, "validation_MRR@10": point.mrr, "validation_FLOPS": point.flops}


def _measured(
    sides: Sides, points: Sequence[Affordable], bm25: float
) -> list[tuple[NDArray[np.float64], dict[str, Any]]]:
    """(reciprocal ranks of the measured queries, what they and documents are) at each point."""
    queries = [prune(sides.measured.queries, point.qk) for point in points]
    ranks = best_ranks(queries, [point.dk for point in points], sides.measured.relevant, sides.documents)
    found = []
    for asked, point, of_point in zip(queries, points, ranks, strict=True):
        documents, values = prune(sides.documents, point.dk), reciprocal(of_point)
        cost = flops(asked, documents)
        facts = {
            "MRR@10": float(values.mean()), "FLOPS": cost, "of_bm25s_FLOPS": cost / bm25,
            "L0_q": len(asked.term_ids) / max(1, asked.n_rows),
            "L0_d": len(documents.term_ids) / max(1, documents.n_rows), "measured_queries": asked.n_rows,
        }  # fmt: skip
        found.append((values, facts))
    return found


def _against(values: NDArray[np.float64], baseline: NDArray[np.float64]) -> dict[str, Any]:
    test = paired_test((values - baseline).tolist())
    return {"difference_to_count": float((values - baseline).mean()), "p": test.p}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--costs", nargs="+", type=float, default=list(COSTS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for path in given.runs:
        print(f"{path} ...", file=sys.stderr)
        rows += measure_run(path, given.system, given.costs)
    text = json.dumps({"rows": rows}, indent=1)
    if given.out:
        given.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
