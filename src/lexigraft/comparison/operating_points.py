"""The operating point of every system of a run: the best pruning that costs no more than `prune.budget` allows, by what
validation queries say of it."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexigraft.comparison.affordable import COUNT, Affordable, Asked, affordable_prunings, query_cuts_of
from lexigraft.comparison.cost_limits import TERMS, CostLimit, NoLimitError, cost_limit
from lexigraft.comparison.prunings import WHOLE, PruningsOnValidation
from lexigraft.comparison.validation import CHOSEN_BY, ValidationQueries
from lexigraft.core.artifact import Manifest, open_artifact, write_json
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import BLEND
from lexigraft.core.stored_record import as_expected, record_of
from lexigraft.core.systems import System
from lexigraft.core.systems_table import BM25
from lexigraft.core.types import document_of
from lexigraft.data.collection import QUERIES
from lexigraft.stages.evaluate import JudgedQueries
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.operating_point import OperatingPoint
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.store import open_vectors

KIND, FORMAT_VERSION = "operating-point", 1
FILE = "prunings.json"
FEWEST_QUERIES = 50  # of which fewer say little of what is best

log = logging.getLogger(__name__)


def choose_operating_points(run: FinishedRun, measured: PruningsOnValidation) -> dict[str, OperatingPoint]:
    """What each system is searched with: the best pruning within its cost where it is a model; whole vectors for BM25,
    and wherever nothing can be chosen. The index that a choice needs is made in the judged view."""
    chosen = {}
    for system in (one for one in run.systems() if one.is_sparse):
        if not system.is_model and system.name != BLEND:
            reason = "BM25 is not pruned" if system.kind == BM25 else "it was cut to its cost when it was grafted"
            chosen[system.name] = _whole(reason)
            continue
        chosen[system.name] = point = operating_point(run, measured, system)
        measured.index(system.name, point.dk)
        log.info("%s is searched with %s", system.name, chosen[system.name].why)
    return chosen


def operating_point(
    run: FinishedRun, measured: PruningsOnValidation, system: System, asked: str = ""
) -> OperatingPoint:
    """The best of all prunings of a system within its limit. What was looked at is kept with the run; `asked` names
    another limit than the run's own, so that neither replaces the other."""
    if system.settings.prune.budget == TERMS:
        qk, dk = system.prunings[0]
        return OperatingPoint(qk, dk, f"({qk}, {dk}): the terms that prune.budgets names first")
    try:
        limit = cost_limit(run, measured, system)
    except NoLimitError as error:
        return _whole(str(error))
    if run.settings.search.two_step or run.settings.search.overlap:  # which change what a pruning is worth
        found, cheapest = _of_grid(measured, system, limit)
    else:
        found, cheapest = _affordable(run, measured, system, limit, asked)
    n_queries = len({qrel.query_id for qrel in limit.queries.qrels if qrel.relevance > 0})
    on = _asked(limit.queries, n_queries)
    if not found:
        return _whole(f"no pruning costs at most {limit.described} on {on}; the cheapest costs {cheapest:.3g}")
    best = max(found, key=lambda one: (one.mrr, -one.flops))
    few = "" if n_queries >= FEWEST_QUERIES else ", which are too few to choose well by"
    why = f"({best.qk}, {best.dk}): best of {len(found)} prunings at no more than {limit.described}, on {on}{few}"
    return OperatingPoint(best.qk, best.dk, why, limit.share, limit.flops, best.flops, best.mrr)


def _of_grid(measured: PruningsOnValidation, system: System, limit: CostLimit) -> tuple[list[Affordable], float]:
    """(those of `prune.budgets` that cost no more, each indexed and searched as the settings say; the lowest cost)."""
    rows = measured.measure(limit.queries, system.name, system.prunings, limit.flops).rows
    found = [Affordable(row["qk"], row["dk"], row["FLOPS"], row[CHOSEN_BY]) for row in rows]
    return [one for one in found if one.flops <= limit.flops], min(one.flops for one in found)


def _affordable(
    run: FinishedRun, measured: PruningsOnValidation, system: System, limit: CostLimit, asked: str
) -> tuple[list[Affordable], float]:
    """(the prunings that cost no more, the lowest cost of any), computed now or before."""
    path = run.folder.vectors(JUDGED, system.name)
    vectors = open_artifact(path, vectors_store.KIND, vectors_store.FORMAT_VERSION, checksums=False)
    parents = {"vectors": vectors.fingerprint, "queries": run.collection.digest(QUERIES)}
    parents["judgements"] = limit.queries.digest
    # Terms that all weigh 1 have no heaviest to keep.
    by = system.settings.prune.by
    query_cuts = () if system.settings.model.queries == "words" else query_cuts_of(by)
    config = {"system": system.name, "flops": limit.flops, "query_cuts": list(query_cuts)}
    if by != COUNT:
        config["by"] = by
    wanted = Manifest(KIND, FORMAT_VERSION, config, parents)
    folder = run.folder.choice(system.name, asked)

    def make(out: Path) -> None:
        opened = open_vectors(path)
        queries = measured.encoded_queries(limit.queries, system.name)
        judged = with_rows(queries, opened.matrix.row_ids, opened.passages)
        found, cheapest = affordable_prunings(judged, opened.matrix, limit.flops, query_cuts, by)
        write_json(out / FILE, {"prunings": [one._asdict() for one in found], "cheapest": cheapest})

    measured.artifacts.ensure("evaluate", f"choose (qk, dk) of {system.name}", folder, wanted, make)
    kept = read_sealed(folder / FILE)
    with as_expected(folder / FILE):
        return [record_of(folder / FILE, Affordable, one) for one in kept["prunings"]], float(kept["cheapest"])


def with_rows(queries: JudgedQueries, row_ids: Sequence[str], passages: bool) -> Asked:
    """The queries with the rows of their relevant documents: of a document in passages, with all of its rows."""
    wanted = {doc_id for of in queries.judged.values() for doc_id, relevance in of.items() if relevance > 0}
    places: dict[str, list[int]] = {}
    for row, name in enumerate(row_ids):
        doc_id = document_of(name) if passages else name
        if doc_id in wanted:
            places.setdefault(doc_id, []).append(row)

    def rows_of(query: str) -> list[int]:
        judged = queries.judged[query].items()
        return [row for doc_id, relevance in judged if relevance > 0 for row in places.get(doc_id, ())]

    relevant = [np.array(rows_of(query), np.int64) for query in queries.vectors.row_ids]
    return Asked(queries.vectors, relevant)


def _whole(reason: str) -> OperatingPoint:
    return OperatingPoint(*WHOLE, f"whole vectors: {reason}")


def _asked(queries: ValidationQueries, n: int) -> str:
    """How many queries of which kind, such as "250 dev queries"."""
    kind = queries.described if "queries" in queries.described else f"{queries.described} queries"
    return f"{n:,} {kind}"
