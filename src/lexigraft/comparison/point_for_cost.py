"""The (qk, dk) of a trained system for a cost that somebody asks for now, chosen as a run chooses its own."""

from dataclasses import replace
from pathlib import Path

from lexigraft.comparison.operating_points import operating_point
from lexigraft.comparison.prunings import BM25, PruningsOnValidation
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.lock import writer_lock
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems import System
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.finished_run import open_run
from lexigraft.stages.operating_point import OperatingPoint


def point_for_cost(
    path: Path,
    system: str | None = None,
    cost: float | None = None,
    budget: float | str | None = None,
    progress: Progress = SILENT,
) -> OperatingPoint:
    """The best pruning of a system of the run at `path`, on validation queries, that costs no more than `cost`, a share
    of BM25's FLOPS, or `budget`: "bm25" or a number of FLOPS."""
    run = open_run(path)
    name = run.require_system(system) if system is not None else run.folder.searchable(None)[1]
    found = run.system(name)
    if not found.is_model:
        raise SettingError(f"{name} is not pruned: a cost is asked of a learned model; name one (system=NAME)")
    asked = _asking(found, cost, budget)
    with writer_lock(run.folder.root):
        measured = PruningsOnValidation(run, Ensurer(run.folder, None), {}, progress)
        named = f"cost-{cost:g}" if cost is not None else f"budget-{budget}"
        point = operating_point(run, measured, asked, named)
    if point.reached is None:
        raise InputError(f"{name}: {point.why.removeprefix('whole vectors: ')}; ask for more, or give qk and dk")
    return point


def _asking(system: System, cost: float | None, budget: float | str | None) -> System:
    """The system with what is asked for now as its limit."""
    prune = system.settings.prune
    if cost is not None and budget is None:
        if not 0 < cost < float("inf"):
            raise SettingError(f"a cost of {cost:g} is not allowed: a share of BM25's, more than 0, such as 0.5")
        prune = replace(prune, budget=BM25, cost=cost)
    elif budget is not None and cost is None:
        prune = replace(prune, budget=budget, cost=1.0)
    else:
        raise SettingError("give either a cost, as a share of BM25's, or a budget, which is bm25 or a number of FLOPS")
    return replace(system, settings=replace(system.settings, prune=prune))
