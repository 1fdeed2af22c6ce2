"""What a search of a system may cost: `prune.budget`, in FLOPS on the system's validation queries.

It is known before the system is trained, because BM25, by whose cost it is usually said, is indexed first: training is
steered to it, and the (qk, dk) of its vectors are chosen for it.
"""

import logging
from dataclasses import replace
from typing import NamedTuple

from lexigraft.comparison.prunings import BM25, PruningsOnValidation
from lexigraft.comparison.validation import NoValidationQueriesError, ValidationQueries, validation_queries
from lexigraft.core.settings import AUTO
from lexigraft.core.systems import System
from lexigraft.stages.finished_run import FinishedRun

NO_BUDGET, TERMS = "none", "terms"
AIM_WITH_MODEL, AIM_WITHOUT = 2.5, 1.5  # times the limit: what training is steered to; pruning takes the rest
SHARE_WITH_MODEL, SHARE_WITHOUT = 0.5, 1.0  # of BM25's cost, where nothing is asked for

log = logging.getLogger(__name__)


class NoLimitError(Exception):
    """Nothing says what a search may cost; the message is the reason."""


class CostLimit(NamedTuple):
    """At most `flops` on `queries`: `share` of what BM25 costs there, `bm25`, or a number that was given (None)."""

    flops: float
    queries: ValidationQueries
    share: float | None = None
    bm25: float | None = None

    @property
    def described(self) -> str:
        if self.share is None:
            return f"{self.flops:g} FLOPS"
        part = "" if self.share == 1 else f"{self.share:g} of "
        return f"{part}BM25's {self.bm25:.3f} FLOPS"


def asked_share(system: System) -> float:
    """The share of BM25's cost that a system may have."""
    share = system.settings.prune.cost
    if isinstance(share, float):
        return share
    return SHARE_WITH_MODEL if system.settings.model.queries == "model" else SHARE_WITHOUT


def with_aim(run: FinishedRun, measured: PruningsOnValidation, system: System) -> System:
    """The system with `finetune.aim` = auto as the cost that it means, before the system is trained."""
    finetune = system.settings.finetune
    if finetune.aim != AUTO:
        return system
    try:
        limit = cost_limit(run, measured, system, trained=False)
    except NoLimitError as error:
        log.info("%s: training is not steered to a cost: %s", system.name or "the model", error)
        aim = 0.0
    else:
        times = AIM_WITH_MODEL if system.settings.model.queries == "model" else AIM_WITHOUT
        aim = float(f"{times * limit.flops:.6g}")
        message = "%s: training is steered to %g FLOPS, %g times the limit of %s"
        log.info(message, system.name or "the model", aim, times, limit.described)
    return replace(system, settings=replace(system.settings, finetune=replace(finetune, aim=aim)))


def cost_limit(run: FinishedRun, measured: PruningsOnValidation, system: System, trained: bool = True) -> CostLimit:
    """The limit of a model, which may not be trained yet; raises `NoLimitError` where there is none."""
    budget = system.settings.prune.budget
    if budget in (NO_BUDGET, TERMS):
        raise NoLimitError(f"prune.budget is {budget}")
    if budget == BM25 and BM25 not in run.settings.run.systems:
        raise NoLimitError("the run has no bm25 to say what a search may cost")
    try:
        queries = validation_queries(run, measured=False, system=system, trained=trained)
    except NoValidationQueriesError as error:
        raise NoLimitError(error.reason) from error
    if budget != BM25:
        return CostLimit(float(budget), queries)
    bm25 = float(measured.bm25_row(queries, system.name)["FLOPS"])
    share = asked_share(system)
    return CostLimit(share * bm25, queries, share, bm25)
