"""Measures a system that is searched by texts, dense or hybrid: as `stages.evaluate` does one of terms, without a
pruning."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_json
from lexigraft.core.config import settings_config
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import EvaluateSettings, SearchSettings, Settings
from lexigraft.core.types import Qrel, Query, Ranking
from lexigraft.data.collection import QUERIES
from lexigraft.measure.cost import mean_ms
from lexigraft.measure.measures import measured_by
from lexigraft.measure.speed import time_within
from lexigraft.search.text_search import TextSearch
from lexigraft.stages.cells import FORMAT_VERSION, KIND, MeasuredOn
from lexigraft.stages.evaluate import (
    ASKED_FOR,
    FEWER_ENCODINGS,
    RANKINGS_AT_ONCE,
    known_judgements,
    measure_and_write,
    measure_names,
    spread,
)
from lexigraft.stages.one_thread import one_thread

WHOLE = (0, 0)  # the (qk, dk) of what has no terms to cut


def wanted_evaluation(settings: Settings, on: MeasuredOn, system: str, parents: Mapping[str, str]) -> Manifest:
    """The recipe of an evaluation; `parents` are what is searched."""
    config = {
        "system": system, "split": on.split, "qk": 0, "dk": 0,
        **settings_config(settings.search), **settings_config(settings.evaluate),
    }  # fmt: skip
    judged_on = {"qrels": on.collection.digest(on.split), "queries": on.collection.digest(QUERIES)}
    return Manifest(KIND, FORMAT_VERSION, config, {**parents, **judged_on}, notes={"seed": settings.run.seed})


def judged_texts(
    on: MeasuredOn, opened: TextSearch, qrels: list[Qrel] | None = None
) -> tuple[list[Query], dict[str, dict[str, int]]]:
    """The judged queries of a split, or of those `qrels` of it, and their judgements."""
    queries = list(on.collection.queries())
    judged = known_judgements(on.collection.qrels(on.split) if qrels is None else qrels, on.split, queries, opened)
    return [query for query in queries if query.query_id in judged], judged


def evaluate_texts(
    opened: TextSearch,
    on: MeasuredOn,
    system: str,
    facts: Mapping[str, Any],
    search: SearchSettings,
    settings: EvaluateSettings,
    folder: Path,
    progress: Progress = SILENT,
) -> None:
    """Search every judged query; leave `run.trec`, `per_query.json` and the report's `row.json`, in which `facts` are,
    too."""
    queries, judged = judged_texts(on, opened)
    encoded = opened.encode_all([query.text for query in queries])

    def ranked() -> Iterator[Ranking]:
        for start in range(0, len(queries), RANKINGS_AT_ONCE):
            some = slice(start, start + RANKINGS_AT_ONCE)
            yield from opened.search_all(encoded[some], search.k, [query.query_id for query in queries[some]])

    rankings = iter(progress.track(ranked(), f"searching with {system}", len(queries)))
    with (folder / "run.trec").open("w", encoding="utf-8") as file:
        measured = measure_and_write(rankings, judged, measure_names(settings), file, system, settings.run_depth)
    row = {
        "system": system, "qk": 0, "dk": 0, **facts,
        **{item.measure: item.mean for item in measured},
        **_times(opened, [query.text for query in queries], encoded, search.k, settings),
        "documents": opened.n_documents, **({"passages": True} if opened.passages else {}),
        "queries": len(queries), "measured_by": measured_by(),
    }  # fmt: skip
    write_json(folder / "per_query.json", {item.measure: item.per_query for item in measured})
    write_json(folder / "row.json", row)


def _times(
    opened: TextSearch, texts: list[str], encoded: list[Any], k: int, settings: EvaluateSettings
) -> dict[str, float]:
    """Mean milliseconds a query on one thread: to encode it, to search it, and from its text to its ten best."""
    some = [texts[place] for place in spread(len(texts), max(1, settings.timing_queries // FEWER_ENCODINGS))]
    asked = [encoded[place] for place in spread(len(encoded), settings.timing_queries)]
    runs = settings.timing_runs
    with one_thread():
        ms_encode = mean_ms(lambda place: opened.encode_all([some[place]]), len(some), runs)
        ms_search, ms_ten = (
            mean_ms(lambda place, depth=depth: opened.search(asked[place], depth), len(asked), runs)  # type: ignore[misc]
            for depth in (k, ASKED_FOR)
        )
        whole = time_within(
            lambda place: opened.search(opened.encode_all([some[place]])[0], ASKED_FOR), len(some), runs
        )
    return {
        "ms_encode": ms_encode, "ms_search": ms_search, "ms_search_10": ms_ten, "ms_text_to_ids": whole.mean,
        "ms_text_to_ids_p50": whole.p50,
    }  # fmt: skip
