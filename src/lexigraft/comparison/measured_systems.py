"""Systems with what they did for every query: from the evaluations of runs, and from TREC run files of any origin."""

import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import open_artifact, read_manifest
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.pinned import read_pinned
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.trec_ids import known_as
from lexigraft.core.types import Measurement, Ranking
from lexigraft.data.readers.judgements import read_judgements
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.measure.measures import judgements, measure
from lexigraft.measure.trec import read_run
from lexigraft.stages import cells
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.report import read_report

COSTS = ("L0_q", "L0_d", "FLOPS", "postings", "ms_encode", "ms_search", "ms_text_to_ids")

Judged = dict[str, dict[str, int]]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MeasuredSystem:
    """`per_query` has values by measure and query id; `costs` those of COSTS that are known."""

    name: str
    per_query: Mapping[str, Mapping[str, float]]
    run_file: Path
    costs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, float]:
        return {name: Measurement(name, dict(values)).mean for name, values in self.per_query.items()}


def cell_name(system: str, qk: QueryCut, dk: DocumentCut) -> str:
    """A system and how it is pruned, as tables name it."""
    return system if (qk, dk) == (0, 0) else f"{system} ({qk},{dk})"


def judged_by_file(path: Path, reading: Reading) -> Judged:
    return judgements(read_judgements(path, reading.on_bad_bytes, on_duplicate=reading.on_duplicate))


def judged_by_collection(source: str, split: str, reading: Reading) -> tuple[str, Judged]:
    """The split that `split` means there, and its judgements."""
    collection = open_source(source, reading)
    chosen = collection.evaluation_split(split)
    if chosen is None:
        raise InputError(f"{source} has no test or dev judgements; name others with --split")
    return chosen, judgements(collection.qrels(chosen))


def judged_by_run(run: FinishedRun) -> Judged:
    """What the run measured: judgements of the queries that exist."""
    on = run.reported_on()
    known = {query.query_id for query in on.collection.queries()}
    qrels = (qrel for qrel in on.collection.qrels(on.split) if qrel.query_id in known)
    return judgements(qrels)


def _as_judged(rankings: Sequence[Ranking], judged: Judged) -> list[Ranking]:
    """The rankings of a file with the ids that the judgements have for its queries and documents."""
    queries = _ids_as_known([ranking.query_id for ranking in rankings], judged)
    return [
        replace(ranking, query_id=query, doc_ids=tuple(_ids_as_known(ranking.doc_ids, judged.get(query, {}))))
        for ranking, query in zip(rankings, queries, strict=True)
    ]


def _ids_as_known(found: Sequence[str], known: Container[str]) -> list[str]:
    """Where a file has both forms of an id, they are two, and neither is taken for the other."""
    own = set(found)
    named = (known_as(one, known) for one in found)
    return [one if name in own else name for one, name in zip(found, named, strict=True)]


def system_of_file(
    path: Path, judged: Judged, measures: Sequence[str], name: str | None = None, ranked_only: bool = False,
    depth: int = 0,
) -> MeasuredSystem:  # fmt: skip
    """A TREC run measured against judgements. A judged query that it does not rank counts 0, as nothing was found for
    it; with `ranked_only` it is left out. `depth`: how many results were asked for, where that is known."""
    rankings = _as_judged(read_run(path), judged)
    ranked = {ranking.query_id for ranking in rankings}
    unranked = [query for query in judged if query not in ranked]
    if len(unranked) == len(judged):
        raise InputError(f"{path} ranks none of the {len(judged):,} judged queries; are they of the same collection?")
    if ranked_only:
        judged = {query: grades for query, grades in judged.items() if query in ranked}
    elif unranked:
        message = "%s ranks nothing for %d of %d judged queries (such as %s): they count 0"
        log.warning(message, path, len(unranked), len(judged), unranked[0])
    deepest = depth or max((len(ranking.doc_ids) for ranking in rankings), default=0)
    _warn_of_shallow_runs(path, deepest, measures)
    found = {item.measure: item.per_query for item in measure(rankings, judged, measures)}
    return MeasuredSystem(name or str(path), found, path)


def systems_of_run(
    run: FinishedRun,
    measures: Sequence[str],
    wanted: Iterable[str] = (),
    prefix: str = "",
    judged: Judged | None = None,
    ranked_only: bool = False,
) -> list[MeasuredSystem]:
    """What the report of a run has a row of, of the `wanted` systems or all.

    Measures that the run has are taken from it, as deep as it searched. Others, and with `judged` all, are of the
    beginning of its rankings that it keeps in run.trec; `ranked_only` is then as for any file.
    """
    chosen = [run.require_system(system) for system in wanted] or list(run.settings.run.systems)
    rows = [row for row in read_report(run.folder)["rows"] if row["system"] in chosen]
    if not rows:
        raise InputError(f"nothing of {run.folder.root} was measured; its collection has no judged queries")
    return [system_of_evaluation(run, row, measures, prefix, judged, ranked_only) for row in rows]


def system_of_evaluation(
    run: FinishedRun,
    row: Mapping[str, Any],
    measures: Sequence[str],
    prefix: str = "",
    judged: Judged | None = None,
    ranked_only: bool = False,
) -> MeasuredSystem:
    """One evaluation of a run, that of the system and pruning of a report's row."""
    path = run.folder.evaluation(row["system"], row["qk"], row["dk"], run.reported_on().view)
    per_query = read_pinned(path, lambda folder: _per_query(run, folder, measures, judged, ranked_only))
    name = prefix + cell_name(row["system"], row["qk"], row["dk"])
    ordered = {name: per_query[name] for name in measures}
    costs = {name: row[name] for name in COSTS if row.get(name) is not None}
    return MeasuredSystem(name, ordered, path / "run.trec", costs)


def _per_query(
    run: FinishedRun, path: Path, measures: Sequence[str], judged: Judged | None, ranked_only: bool
) -> dict[str, Mapping[str, float]]:
    """What the evaluation at `path` has of each query, by measure; measured again where it has not."""
    open_artifact(path, cells.KIND, cells.FORMAT_VERSION)
    stored = {} if judged is not None else read_sealed(path / "per_query.json")
    per_query: dict[str, Mapping[str, float]] = {name: stored[name] for name in measures if name in stored}
    if missing := [name for name in measures if name not in per_query]:
        again = judged_by_run(run) if judged is None else judged
        per_query |= system_of_file(
            path / "run.trec", again, missing, ranked_only=ranked_only and judged is not None
        ).per_query
    return per_query


def judgements_of_evaluations(run: FinishedRun) -> tuple[str, str]:
    """(split, what its judgements depend on) of a run: equal ones may be compared. Raises where they have changed."""
    collection, split, view = run.reported_on()
    digest = collection.digest(split)
    for row in read_report(run.folder)["rows"]:
        made = read_manifest(run.folder.evaluation(row["system"], row["qk"], row["dk"], view))
        if made is not None and made.parents.get("qrels") != digest:
            raise ArtifactError(
                f"the {split} judgements of {collection.name} have changed since {run.folder.root} was measured; "
                "measure it again with the command that made it"
            )
    return split, digest


def _warn_of_shallow_runs(path: Path, depth: int, names: Sequence[str]) -> None:
    deeper = [name for name in names if name.rpartition("@")[2].isdigit() and int(name.rpartition("@")[2]) > depth]
    if deeper:
        log.warning("%s holds at most %d results a query: %s see no more than those", path, depth, ", ".join(deeper))
