"""One system of an expansion, searched and measured: its run, its query vectors and its row of the report."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.folders import make_folders
from lexigraft.core.plain_files import written_aside
from lexigraft.core.types import Measurement, Ranking, SparseMatrix, Vocabulary
from lexigraft.index.inverted import Index
from lexigraft.measure.cost import flops, mean_terms
from lexigraft.measure.measures import measure, measured_by
from lexigraft.measure.trec import write_run
from lexigraft.search.searcher import Searcher
from lexigraft.study.expansion.work import Asked, Work
from lexigraft.vectors import query_store

MEASURES = ("MRR@10", "nDCG@10", "R@10", "R@100", "R@1000")
RANKINGS_AT_ONCE = 256


def measured_system(
    work: Work, system: str, asked: Asked, queries: SparseMatrix, index: Index, facts: dict[str, Any]
) -> dict[str, Any]:
    """Search, write the run, the query vectors and the report's row, and give the row."""
    folder, k = work.out / system, work.settings.search.k
    make_folders(folder)
    searcher = Searcher(index, work.settings.search.method)
    tracked = work.progress.track(range(queries.n_rows), f"searching with {system}", queries.n_rows)
    rankings = (searcher.search(*queries.row(row), k, queries.row_ids[row]) for row in tracked)
    measures = () if asked.judged is None else _measures_within(k)
    found = _write_and_measure(folder / "run.trec", rankings, system, asked.judged or {}, measures)
    _write_queries(folder / "queries", queries, index.vocabulary)
    row = {
        "system": system,
        "split": asked.split,
        "queries": queries.n_rows,
        "without_results": found.without_results,
        "documents": index.n_documents,
        "L0_q": mean_terms(queries.indptr),
        "L0_d": index.meta.n_postings / index.n_documents,
        "FLOPS": flops(queries, index),
        **{item.measure: item.mean for item in found.measurements},
        **({"measured_by": measured_by()} if found.measurements else {}),
        **facts,
    }
    write_json(folder / "row.json", row)
    return row


class Found(NamedTuple):
    without_results: int
    measurements: list[Measurement]


def _measures_within(depth: int) -> tuple[str, ...]:
    """Those that a ranking of `depth` documents holds: R@1000 of a hundred would be R@100 by another name."""
    return tuple(name for name in MEASURES if int(name.partition("@")[2]) <= depth)


def _write_and_measure(
    path: Path,
    rankings: Iterator[Ranking],
    tag: str,
    judged: Mapping[str, Mapping[str, int]],
    measures: Sequence[str],
) -> Found:
    """Some hundred rankings at a time, because many deep ones are large; the file appears whole or not at all."""
    per_query: dict[str, dict[str, float]] = {name: {} for name in measures}
    without = 0
    with written_aside(path) as aside, aside.open("w", encoding="utf-8") as file:
        while batch := list(islice(rankings, RANKINGS_AT_ONCE)):
            write_run(file, batch, tag)
            without += sum(not ranking.doc_ids for ranking in batch)
            if measures:
                of_these = {ranking.query_id: judged[ranking.query_id] for ranking in batch}
                for item in measure(batch, of_these, measures):
                    per_query[item.measure].update(item.per_query)
    return Found(without, [Measurement(name, values) for name, values in per_query.items()])


def _write_queries(path: Path, queries: SparseMatrix, vocabulary: Vocabulary) -> None:
    manifest = Manifest(query_store.KIND, query_store.FORMAT_VERSION, {"vocabulary": vocabulary.fingerprint})
    with write_artifact(path, manifest) as folder:
        query_store.write_query_vectors(queries, vocabulary, folder)
