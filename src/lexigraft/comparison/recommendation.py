"""Which system of a run a search takes when nobody names one, by what validation queries say.

BM25 asks nothing of a query, a table next to nothing, a model milliseconds. So a system that costs more to ask must be
worth it: each is taken in that order when it is ahead of the one taken so far by what its kind must be ahead by.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.comparison.cost_limits import NoLimitError, cost_limit
from lexigraft.comparison.prunings import BM25, PruningsOnValidation
from lexigraft.comparison.validation import CHOSEN_BY
from lexigraft.core.systems import System
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.operating_point import OperatingPoint
from lexigraft.stages.text_searches import HybridChoice

AHEAD_WITHOUT_MODEL, AHEAD_WITH_MODEL = 0.0, 0.02  # MRR@10 on validation queries
SHARE_AHEAD = 0.05  # on made queries: of the MRR@10 of the one taken so far, or of what that lacks to 1, if less
LEVEL = 0.05  # p, two-sided, at which a difference is taken for more than chance


class Recommendation(NamedTuple):
    system: str
    why: str


def recommend(
    run: FinishedRun, measured: PruningsOnValidation, points: Mapping[str, OperatingPoint]
) -> Recommendation | None:
    """The system that a search takes; None where the run has no model, or nothing was measured on validation
    queries."""
    models = [one for one in run.systems() if one.is_model and points[one.name].mrr is not None]
    if not models:
        return None
    try:
        limit = cost_limit(run, measured, models[0])
    except NoLimitError:
        return None
    asked = [one for one in models if one.settings.model.queries == "model"]
    worth = {one.name: points[one.name].mrr or 0.0 for one in models}
    taken = ""
    if BM25 in run.settings.run.systems:
        taken, worth[BM25] = BM25, float(measured.bm25_row(limit.queries, models[0].name)[CHOSEN_BY])
    for kind, ahead in (([one for one in models if one not in asked], AHEAD_WITHOUT_MODEL), (asked, AHEAD_WITH_MODEL)):
        best = max(kind, key=lambda one: worth[one.name], default=None)
        if best is not None and (not taken or worth[best.name] > worth[taken] + ahead * (taken != BM25)):
            taken = best.name
    said = ", ".join(f"{name} {value:.4f}" for name, value in worth.items())
    return Recommendation(taken, f"MRR@10 on validation queries: {said}; {_reason(taken, asked)}")


def recommend_hybrid(
    taken: Recommendation | None, name: str, choice: HybridChoice, row: Mapping[str, Any]
) -> Recommendation | None:
    """The hybrid of that name in the place of its first system, which was `taken` or is BM25 in a run without models,
    where it is ahead of that on made queries by enough and by more than chance; `row` is that of the report, empty
    where nothing is measured.

    How much is enough cannot be a number of MRR@10: how hard made queries are depends on what they were made of, and a
    lead is small where BM25 finds almost all of them or almost none.
    """
    first = taken.system if taken is not None else BM25
    if choice.of[0] != first or choice.ahead is None or choice.p is None:
        return taken
    alone = max(one[CHOSEN_BY] for one in choice.looked_at) - choice.ahead
    if choice.ahead <= SHARE_AHEAD * min(alone, 1 - alone) or choice.p >= LEVEL:
        return taken
    takes = f"; a query takes {row['ms_text_to_ids']:.2g} ms here, most of it to be encoded" if row else ""
    return Recommendation(name, f"{choice.why}; {choice.ahead:.4f} above {first} alone (p = {choice.p:.2g}){takes}")


def _reason(taken: str, asked: list[System]) -> str:
    if taken == BM25:
        return "no model is ahead of BM25"
    if any(one.name == taken for one in asked):
        return "the model that writes queries is worth its milliseconds"
    return "its queries need no model" + (f", which is not {AHEAD_WITH_MODEL:g} ahead" if asked else "")
