"""An index that belongs to no run, or a collection of an engine, searched with judged queries and measured."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from lexigraft.comparison.measured_systems import Judged, MeasuredSystem, system_of_file
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.trec_ids import known_as
from lexigraft.core.types import Query
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source
from lexigraft.retrieve.many_queries import DEPTH, queries_of_file, rank_all, write_rankings
from lexigraft.retrieve.retriever import Retriever

TIMED = 200  # queries, one after the other
RESULTS = 10  # of each


def judged_queries(judged: Judged, file: Path | None, data: str | None, reading: Reading) -> list[Query]:
    """The texts of the judged queries, of a file or of a collection."""
    if file is not None:
        given, where = queries_of_file(file), str(file)
    elif data is not None:
        given, where = list(open_source(data, reading).queries()), data
    else:
        raise InputError("the judged queries have no texts; give --queries FILE or --data DIR")
    found = [query for query in given if known_as(query.query_id, judged) in judged]
    if not found:
        raise InputError(f"no query of {where} is judged; are they of the same collection?")
    return found


def system_of_index(
    path: Path | str, name: str, queries: Sequence[Query], judged: Judged, measures: Sequence[str], workspace: Path,
    progress: Progress = SILENT, timed: bool = False,
) -> MeasuredSystem:  # fmt: skip
    """The index at `path`, or the engine at that address, as deep as its run in `workspace` shows. `timed`: with what a
    query takes from its text to the ids of the ten best."""
    run = workspace / f"{len(list(workspace.iterdir()))}.trec"
    with Retriever.open(path) as retriever:
        write_rankings(rank_all(retriever, queries, DEPTH), run, "lexigraft", len(queries), progress)
        costs = {"ms_text_to_ids": _milliseconds(retriever, queries[:TIMED])} if timed else {}
    return replace(system_of_file(run, judged, measures, name, depth=DEPTH), costs=costs)


def _milliseconds(retriever: Retriever, queries: Sequence[Query]) -> float:
    """On average, on one thread; everything was asked once before."""
    begun = perf_counter()
    for query in queries:
        retriever.search(query.text, RESULTS)
    return 1000 * (perf_counter() - begun) / len(queries)
