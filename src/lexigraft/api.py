"""The functions that `import lexigraft` offers beside its classes: a run, a measurement, a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexigraft.core.checked_arguments import checked
from lexigraft.core.config import given_names, load_settings
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Measurement, Qrel, Query
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.report import read_report

if TYPE_CHECKING:
    from lexigraft.comparison.side_by_side import SideBySide

USUAL_MEASURES = ("MRR@10", "R@10", "nDCG@10")
BEST_BY = "MRR@10"


@dataclass(frozen=True)
class Run:
    """A run that has ended, in its folder."""

    folder: Path

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | Path):
            raise InputError(f"folder = {self.folder!r} is not allowed: the folder of a run, as a path")
        object.__setattr__(self, "folder", Path(self.folder))

    @cached_property
    def report(self) -> dict[str, Any]:
        """What `report.json` holds: the collection, a row for every system and pruning, and what each stage took."""
        return dict(read_report(RunFolder(self.folder)))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What was measured: a row for every system and pruning; none where nothing is judged, and then
        `report["advice"]` says what would be better, with its command."""
        return list(self.report["rows"])

    @property
    def best(self) -> dict[str, Any]:
        """The row with the highest MRR@10, the cheapest of equals, whatever it costs; a dense system, which multiplies
        every document, costs more than any. Where nothing is judged, and so nothing measured: the system that a search
        takes, with None for every measure."""
        if not self.rows:
            searched = RunFolder(self.folder).searchable(None)[1]
            return {"system": searched, "qk": 0, "dk": 0, **dict.fromkeys(("FLOPS", *USUAL_MEASURES))}
        return max(self.rows, key=lambda row: (row[BEST_BY], -inf if row["FLOPS"] is None else -row["FLOPS"]))

    @checked
    def retriever(
        self, system: str | None = None, *, qk: QueryCut | None = None, dk: DocumentCut | None = None,
        cost: float | None = None, budget: float | str | None = None,
    ) -> Retriever:  # fmt: skip
        """The run opened for searches: at its operating point, at a (qk, dk), or at the best one within a cost, which
        is a share of BM25's, or a budget, which is "bm25" or a number of FLOPS."""
        if cost is not None or budget is not None:
            from lexigraft.comparison.point_for_cost import point_for_cost

            if qk is not None or dk is not None:
                raise SettingError("a cost and a budget choose the (qk, dk); leave out qk and dk")
            point = point_for_cost(self.folder, system, cost, budget)
            qk, dk = point.qk, point.dk
        return Retriever.open(self.folder, system, qk=qk, dk=dk)


@dataclass(frozen=True)
class Evaluation:
    """How good a retriever's rankings are: `means` by measure, and the value of every query."""

    queries: int
    means: dict[str, float]
    per_query: dict[str, dict[str, float]]


@checked
def run(
    data: str | Path,
    out: str | Path,
    recipe: str | None = None,
    set: Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    progress: Progress = SILENT,
    minutes: float | None = None,
    replace: bool = False,
) -> Run:
    """Take a collection from text to report, in the folder `out`, doing only what is not done yet.

    `data` is given as to `lexigraft run --data`. `recipe` is a set of settings by name; `config` a TOML file, or the
    settings.json of a run; `set` single settings by their full names, such as {"lexical.k1": 0.9}. With `minutes` the
    run chooses lengths, batch, steps and learning rate itself, so that it fits into them; what is set here wins.
    A folder with the run of another collection is refused; with `replace` that run is removed first.
    """
    from lexigraft.own_settings.given_time import GivenTime
    from lexigraft.retrieve.kept_metadata import keep_metadata
    from lexigraft.whole_run import run as whole_run

    path = None if config is None else Path(config)
    settings = load_settings(path, recipe=recipe, values=set)
    time = GivenTime(minutes, given_names(path, recipe=recipe, values=set)) if minutes is not None else None
    report = whole_run(str(data), Path(out), settings, progress=progress, time=time, replace_other=replace)
    if report:
        keep_metadata(Path(out), str(data), settings.data)
    return Run(Path(out))


@checked
def evaluate(
    what: Retriever | Run | str | Path,
    data: str | Path | None = None,
    split: str = "auto",
    queries: Mapping[str, str] | None = None,
    qrels: Mapping[str, Mapping[str, int]] | None = None,
    measures: Sequence[str] = USUAL_MEASURES,
    k: int = 1000,
    threads: int = 0,
) -> Evaluation:
    """Measure a retriever on judged queries: those of the collection `data`, or `queries` (text by id) with `qrels`
    (relevance by query id and document id).

    `what` is a retriever, a run, or the path of anything that `Retriever.open` opens, searched at its operating
    point. Of a run, its own collection is measured where nothing else is given. `threads` search; 0: one for each
    core.
    """
    from lexigraft.measure.measures import check_measures, judgements, measure
    from lexigraft.retrieve.many_queries import rank_all

    check_measures(list(measures))
    opened = what if isinstance(what, Retriever) else Retriever.open(what.folder if isinstance(what, Run) else what)
    if (queries is None) != (qrels is None) or (data is not None and queries is not None):
        raise SettingError("give either data, or queries together with qrels")
    if queries is not None and qrels is not None:
        judged = judgements(
            Qrel(query, document, grade) for query, docs in qrels.items() for document, grade in docs.items()
        )
        texts = dict(queries)
    else:
        texts, judged = _collection_queries(opened, data, split)
    known = {query: grades for query, grades in judged.items() if query in texts}
    if not known:
        raise InputError("no query has a relevant document among the judgements; nothing can be measured")
    rankings = list(rank_all(opened, (Query(query, texts[query]) for query in known), k, threads=threads))
    measured: list[Measurement] = measure(rankings, known, list(measures))
    return Evaluation(
        len(known), {item.measure: item.mean for item in measured}, {item.measure: item.per_query for item in measured}
    )


def _collection_queries(
    retriever: Retriever, data: str | Path | None, split: str
) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """(texts, judgements) by query id, of a collection or of a run's own."""
    from lexigraft.data.sources import open_source
    from lexigraft.measure.measures import judgements
    from lexigraft.stages.finished_run import open_run
    from lexigraft.stages.layout import JUDGED

    if data is None:
        if retriever.place.run is None:
            raise SettingError(f"{retriever.name} has no judged queries of its own; give data, or queries and qrels")
        finished = open_run(retriever.place.run.root)
        collection, chosen, view = finished.reported_on()
        if finished.settings.data.makes_pairs and view == JUDGED:
            raise InputError(
                f"{retriever.name} is measured by made queries over documents from which they are cut out, and "
                "searched over whole ones; its numbers are in the report. Give data, or queries and qrels"
            )
    else:
        collection = open_source(str(data))
        found = collection.evaluation_split(split)
        if found is None:
            raise InputError(f"{data} has no test or dev judgements; name others by split")
        chosen = found
    return {query.query_id: query.text for query in collection.queries()}, judgements(collection.qrels(chosen))


@checked
def compare(
    runs: Sequence[Run | str | Path], measures: Sequence[str] = USUAL_MEASURES, baseline: str | None = None
) -> "SideBySide":
    """Systems of runs, and TREC run files, side by side: each against a baseline, query by query, with paired tests."""
    from lexigraft.comparison.side_by_side import Asked, side_by_side

    if not runs:
        raise SettingError("runs is empty; give the folders of runs, or files of TREC runs")
    paths = [Path(item.folder if isinstance(item, Run) else item) for item in runs]
    folders, files = [path for path in paths if not path.is_file()], [path for path in paths if path.is_file()]
    return side_by_side(Asked(runs=folders, files=files, measures=measures, baseline=baseline))
