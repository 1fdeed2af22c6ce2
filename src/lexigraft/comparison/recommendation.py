"""Which system of a run a search takes when nobody names one, by what validation queries say.

BM25 asks nothing of a query, grafted or not, a table next to nothing, a model milliseconds. So a system that costs
more to ask must be worth it: each is taken in that order when it is ahead of the one taken so far by what its kind must
be ahead by.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.comparison.cost_limits import NoLimitError, cost_limit
from lexigraft.comparison.prunings import BM25, WHOLE, PruningsOnValidation
from lexigraft.comparison.validation import CHOSEN_BY
from lexigraft.core.settings import GRAFTED
from lexigraft.core.systems import System
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.operating_point import OperatingPoint
from lexigraft.stages.text_searches import HybridChoice
from lexigraft.stages.user_judgements import decided_by_user

AHEAD_WITHOUT_MODEL, AHEAD_WITH_MODEL = 0.0, 0.02  # MRR@10 on validation queries
SHARE_AHEAD = 0.05  # on made queries: of the MRR@10 of the one taken so far, or of what that lacks to 1, if less
LEVEL = 0.05  # p, two-sided, at which a difference is taken for more than chance


class Recommendation(NamedTuple):
    system: str
    why: str


def recommend(
    run: FinishedRun, measured: PruningsOnValidation, points: Mapping[str, OperatingPoint]
) -> Recommendation | None:
    """The system that a search takes; None where the run has nothing but BM25. Where nothing was measured on validation
    queries, that is BM25 grafted, ahead on seven of ten collections and level on three (docs/results/grafted.md)."""
    models = [one for one in run.systems() if one.is_model and points[one.name].mrr is not None]
    grafted = [one for one in run.systems() if one.kind == GRAFTED]
    if not models:
        why = "nothing is trained; it was ahead of BM25 on seven of ten collections, and level on three"
        return Recommendation(GRAFTED, why) if grafted else None
    try:
        limit = cost_limit(run, measured, models[0])
    except NoLimitError:
        return None
    asked = [one for one in models if one.settings.model.queries == "model"]
    worth = {one.name: points[one.name].mrr or 0.0 for one in models}
    taken = ""
    if BM25 in run.settings.run.systems:
        taken, worth[BM25] = BM25, float(measured.bm25_row(limit.queries, models[0].name)[CHOSEN_BY])
    for one in grafted:
        worth[one.name] = float(measured.row(limit.queries, one.name, WHOLE)[CHOSEN_BY])
    unasked = [*grafted, *(one for one in models if one not in asked)]
    for kind, ahead in ((unasked, AHEAD_WITHOUT_MODEL), (asked, AHEAD_WITH_MODEL)):
        best = max(kind, key=lambda one: worth[one.name], default=None)
        if best is not None and (not taken or worth[best.name] > worth[taken] + ahead * (taken != BM25)):
            taken = best.name
    said = ", ".join(f"{name} {value:.4f}" for name, value in worth.items())
    return Recommendation(taken, f"MRR@10 on validation queries: {said}; {_reason(taken, asked)}")


def recommend_hybrid(
    taken: Recommendation | None,
    name: str,
    choice: HybridChoice,
    row: Mapping[str, Any],
    lead: float | None = None,
) -> Recommendation | None:
    """The hybrid of that name in the place of its first system, which was `taken` or is BM25 in a run without models,
    where it is ahead of that on made queries by enough and by more than chance; `row` is that of the report, empty
    where nothing is measured. Where another system was taken, that has a `lead` over BM25 on made queries of its own,
    and a hybrid of BM25 must be ahead by enough of that, too.

    How much is enough cannot be a number of MRR@10: how hard made queries are depends on what they were made of, and a
    lead is small where BM25 finds almost all of them or almost none.
    """
    first = taken.system if taken is not None else BM25
    is_first = choice.of[0] == first
    if not is_first and (choice.of[0] != BM25 or lead is None):
        return taken
    if choice.ahead is None or choice.p is None:
        return taken
    alone, other = max(one[CHOSEN_BY] for one in choice.looked_at) - choice.ahead, 0.0 if is_first else lead or 0.0
    if choice.ahead - other <= SHARE_AHEAD * min(alone, 1 - alone) or choice.p >= LEVEL:
        return taken
    takes = f"; a query takes {row['ms_text_to_ids']:.2g} ms here, most of it to be encoded" if row else ""
    beside = "" if is_first else f", where {first} is {other:.4f} above it"
    ahead = f"{choice.ahead:.4f} above {choice.of[0]} alone (p = {choice.p:.2g}){beside}"
    return Recommendation(name, f"{choice.why}; {ahead}{takes}")


def recommend_by_user(run: FinishedRun, taken: Recommendation | None) -> Recommendation | None:
    """The system that the user's own questions decided for (`lexigraft judge`), in the place of what was `taken`."""
    decided = decided_by_user(run.folder.root)
    if decided not in [one.name for one in run.systems()]:
        return taken
    return Recommendation(str(decided), "your own judgements decided for it (lexigraft judge)")


def _reason(taken: str, asked: list[System]) -> str:
    if taken == BM25:
        return "no model is ahead of BM25"
    if any(one.name == taken for one in asked):
        return "the model that writes queries is worth its milliseconds"
    return "its queries need no model" + (f", which is not {AHEAD_WITH_MODEL:g} ahead" if asked else "")
