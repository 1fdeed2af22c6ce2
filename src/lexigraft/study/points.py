"""A trained model of a run measured at the points of a study: whole, cut to (qk, dk), and within shares of BM25's cost.

Weights are not quantised, and nothing is indexed: rows differ a little from those of an index of 8 bits.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.affordable import Asked, affordable_prunings, best_ranks, pruning_costs, reciprocal
from lexigraft.comparison.operating_points import with_rows
from lexigraft.comparison.validation import UNTIMED, validation_queries
from lexigraft.core.systems import System
from lexigraft.core.types import SparseMatrix
from lexigraft.stages.evaluate import encode_judged
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.study.design import BM25, COSTS, WHOLE, Study, at_cost, cut_to
from lexigraft.study.finished import Point, write_ranks
from lexigraft.vectors.prune import prune
from lexigraft.vectors.store import open_vectors

QUERY_CUTS = (0.5, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)  # looked at for a cost, beside whole queries


class Measured(NamedTuple):
    """`queries`: a hash of which were measured, in order."""

    queries: str
    bm25: Point
    points: dict[str, Point]


class _Sides(NamedTuple):
    held_out: Asked
    measured: Asked
    documents: SparseMatrix


def measure_points(run: FinishedRun, study: Study) -> Measured:
    """The run's own model and BM25 at every point that some pruning reaches."""
    system = next(one for one in run.systems() if one.is_model)
    ours, bm25 = _sides(run, system, system.name), _sides(run, system, BM25)
    reference = _point(bm25, 0, 0)
    limit = pruning_costs([bm25.held_out.queries], bm25.documents)[0][-1]
    cuts = {WHOLE: (0, 0), **{cut_to(*cut): cut for cut in study.cuts}}
    points = {name: _point(ours, qk, dk) for name, (qk, dk) in cuts.items()}
    by_words = system.settings.model.queries == "words"
    for share in COSTS:
        found, _ = affordable_prunings(ours.held_out, ours.documents, share * limit, () if by_words else QUERY_CUTS)
        if found:
            best = max(found, key=lambda one: (one.mrr, -one.flops))
            points[at_cost(share)] = _point(ours, best.qk, best.dk)
    named = "\n".join(ours.measured.queries.row_ids)
    return Measured(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest(), reference, points)


def _sides(run: FinishedRun, chosen_for: System, name: str) -> _Sides:
    """The queries that points are chosen by and those that are measured, as the system `name` writes them."""
    opened = open_vectors(run.folder.vectors(JUDGED, name), checksums=False)
    index, split = run.folder.index(JUDGED, name, 0), run.measured_split()
    chosen_by = validation_queries(run, system=chosen_for)
    held_out, measured = (
        with_rows(encode_judged(run.collection, of, index, UNTIMED, qrels), opened.matrix.row_ids, opened.passages)
        for of, qrels in ((chosen_by.split, chosen_by.qrels), (split, None))
    )
    return _Sides(held_out, measured, opened.matrix)


def _point(sides: _Sides, qk: float, dk: int) -> Point:
    cut, chosen = prune(sides.measured.queries, qk), prune(sides.held_out.queries, qk)
    (ranks,) = best_ranks([cut], [dk], sides.measured.relevant, sides.documents)
    (held_out,) = best_ranks([chosen], [dk], sides.held_out.relevant, sides.documents)
    (costs,) = pruning_costs([cut], sides.documents)
    lengths = np.diff(sides.documents.indptr)
    return Point(
        qk, dk, _at(costs, dk), _mean(np.diff(cut.indptr)), _mean(np.minimum(lengths, dk) if dk else lengths),
        _mean(reciprocal(held_out)), write_ranks(ranks),
    )  # fmt: skip


def _at(costs: NDArray[np.float64], dk: int) -> float:
    """What `dk` terms a document cost; 0, or more than any has: all of them."""
    return float(costs[dk - 1 if 0 < dk <= len(costs) else -1]) if len(costs) else 0.0


def _mean(values: Sequence[float] | NDArray[np.float64] | NDArray[np.int64]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
