"""A trained model of a run measured at the points of a study: whole, cut to (qk, dk), and within shares of BM25's cost.

Weights are not quantised, and nothing is indexed: rows differ a little from those of an index of 8 bits.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lexigraft.comparison.affordable import Asked, affordable_within, best_ranks, pruning_costs, reciprocal
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


class Sides(NamedTuple):
    """Queries that points are chosen by, queries that are measured, and what is searched."""

    held_out: Asked
    measured: Asked
    documents: SparseMatrix


def measure_points(run: FinishedRun, study: Study) -> Measured:
    """The run's own model and BM25 at every point that some pruning reaches."""
    system = next(one for one in run.systems() if one.is_model)
    ours, bm25 = sides_of(run, system, system.name), sides_of(run, system, BM25)
    (reference,) = _points(bm25, [(0, 0)])
    limit = pruning_costs([bm25.held_out.queries], bm25.documents)[0][-1]
    cuts: dict[str, tuple[float, int]] = {WHOLE: (0, 0), **{cut_to(*cut): cut for cut in study.cuts}}
    query_cuts = () if system.settings.model.queries == "words" else QUERY_CUTS
    limits = [share * limit for share in COSTS]
    within, _ = affordable_within(ours.held_out, ours.documents, limits, query_cuts)
    for share, found in zip(COSTS, within, strict=True):
        if found:
            best = max(found, key=lambda one: (one.mrr, -one.flops))
            cuts[at_cost(share)] = cast("tuple[float, int]", (best.qk, best.dk))  # no mass was looked at
    points = dict(zip(cuts, _points(ours, list(cuts.values())), strict=True))
    named = "\n".join(ours.measured.queries.row_ids)
    return Measured(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest(), reference, points)


def sides_of(run: FinishedRun, chosen_for: System, name: str) -> Sides:
    """The queries that points are chosen by and those that are measured, as the system `name` writes them."""
    opened = open_vectors(run.folder.vectors(JUDGED, name), checksums=False)
    index, split = run.folder.index(JUDGED, name, 0), run.measured_split()
    chosen_by = validation_queries(run, system=chosen_for)
    held_out, measured = (
        with_rows(encode_judged(run.collection, of, index, UNTIMED, qrels), opened.matrix.row_ids, opened.passages)
        for of, qrels in ((chosen_by.split, chosen_by.qrels), (split, None))
    )
    return Sides(held_out, measured, opened.matrix)


def _points(sides: Sides, cuts: Sequence[tuple[float, int]]) -> list[Point]:
    """The documents are read once for the costs of all (qk, dk), and twice for the ranks of each side's queries."""
    keeps = [dk for _, dk in cuts]
    measured, chosen_by = ([prune(of.queries, qk) for qk, _ in cuts] for of in (sides.measured, sides.held_out))
    ranks = best_ranks(measured, keeps, sides.measured.relevant, sides.documents)
    held_out = best_ranks(chosen_by, keeps, sides.held_out.relevant, sides.documents)
    costs = pruning_costs(measured, sides.documents)
    lengths = np.diff(sides.documents.indptr)
    return [
        Point(
            qk, dk, _at(costs[at], dk), _mean(np.diff(measured[at].indptr)),
            _mean(np.minimum(lengths, dk) if dk else lengths), _mean(reciprocal(held_out[at])), write_ranks(ranks[at]),
        )
        for at, (qk, dk) in enumerate(cuts)
    ]  # fmt: skip


def _at(costs: NDArray[np.float64], dk: int) -> float:
    """What `dk` terms a document cost; 0, or more than any has: all of them."""
    return float(costs[dk - 1 if 0 < dk <= len(costs) else -1]) if len(costs) else 0.0


def _mean(values: Sequence[float] | NDArray[np.float64] | NDArray[np.int64]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
