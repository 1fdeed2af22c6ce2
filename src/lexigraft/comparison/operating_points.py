"""The operating point of every system of a run: the best pruning that costs no more than `prune.budget` allows, by what
validation queries say of it."""

import logging

from lexigraft.comparison.prunings import BM25, WHOLE, PruningsOnValidation, ValidatedPrunings
from lexigraft.comparison.validation import NoValidationQueriesError, ValidationQueries, validation_queries
from lexigraft.core.artifact import Manifest
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.operating_point import OperatingPoint

NO_BUDGET = "none"

log = logging.getLogger(__name__)


def choose_operating_points(
    run: FinishedRun,
    artifacts: Ensurer,
    indexes: dict[tuple[str, int], Manifest],
    progress: Progress = SILENT,
) -> dict[str, OperatingPoint]:
    """What each system is searched with: one of its prunings where it is a model; whole vectors for BM25, and wherever
    nothing can be chosen. `indexes` are those of the judged view that are there, by system and dk."""
    measured = PruningsOnValidation(run, artifacts, indexes, progress)
    chosen = {}
    for system in run.systems():
        if not system.is_model:
            chosen[system.name] = _whole("BM25 is not pruned")
            continue
        chosen[system.name] = operating_point(run, measured, system)
        log.info("%s is searched with %s", system.name, chosen[system.name].why)
    return chosen


def operating_point(run: FinishedRun, measured: PruningsOnValidation, system: System) -> OperatingPoint:
    """The best of a system's prunings within its budget."""
    limit, grid = system.settings.prune.budget, system.prunings
    if limit == NO_BUDGET:
        return _whole("prune.budget is none")
    if limit == BM25 and BM25 not in run.settings.run.systems:
        return _whole("the run has no bm25 to say what a search may cost")
    try:
        queries = validation_queries(run, measured=False, system=system)
    except NoValidationQueriesError as error:
        return _whole(error.reason)
    found = measured.measure(queries, system.name, grid, limit)
    best = found.best(inclusive=True)
    if best is None:
        least = found.cheapest
        return _whole(
            f"no pruning costs at most {_cost(found)} on {_asked(queries, least['queries'])}; the cheapest, "
            f"({least['qk']}, {least['dk']}), costs {least['FLOPS']:.3f}"
        )
    of = f"the best of {len(grid)} prunings" if len(grid) > 1 else "the only pruning, which is"
    queries_asked = _asked(queries, found.cheapest["queries"])
    return OperatingPoint(*best, f"({best[0]}, {best[1]}): {of} at no more than {_cost(found)}, on {queries_asked}")


def _whole(reason: str) -> OperatingPoint:
    return OperatingPoint(*WHOLE, f"whole vectors: {reason}")


def _cost(found: ValidatedPrunings) -> str:
    return f"{found.flops:g} FLOPS" if found.bm25 is None else f"BM25's {found.flops:.3f} FLOPS"


def _asked(queries: ValidationQueries, n: int) -> str:
    """How many queries of which kind, such as "250 dev queries"."""
    kind = queries.described if "queries" in queries.described else f"{queries.described} queries"
    return f"{n:,} {kind}"
