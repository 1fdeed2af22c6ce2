"""One system of an expansion, searched and measured: its run, its query vectors and its row of the report."""

import os
from pathlib import Path
from typing import Any

from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.types import Ranking, SparseMatrix, Vocabulary
from lexigraft.evaluate.cost import flops, mean_terms
from lexigraft.evaluate.measures import measure, measured_by
from lexigraft.evaluate.trec import write_run
from lexigraft.index.store import Index
from lexigraft.pipeline.expansion_work import Asked, Work
from lexigraft.search.searcher import Searcher
from lexigraft.vectors import query_store

MEASURES = ("MRR@10", "nDCG@10", "R@10", "R@100", "R@1000")


def measured_system(
    work: Work, system: str, asked: Asked, queries: SparseMatrix, index: Index, facts: dict[str, Any]
) -> dict[str, Any]:
    """Search, write the run, the query vectors and the report's row, and give the row."""
    folder, k = work.out / system, work.settings.search.k
    folder.mkdir(parents=True, exist_ok=True)
    searcher = Searcher(index, work.settings.search.method)
    tracked = work.progress.track(range(queries.n_rows), f"searching with {system}", queries.n_rows)
    rankings = [searcher.search(*queries.row(row), k, queries.row_ids[row]) for row in tracked]
    _write_run(folder / "run.trec", rankings, system)
    _write_queries(folder / "queries", queries, index.vocabulary)
    measured = measure(rankings, asked.judged, MEASURES) if asked.judged is not None else []
    row = {
        "system": system,
        "split": asked.split,
        "queries": queries.n_rows,
        "without_results": sum(not ranking.doc_ids for ranking in rankings),
        "documents": index.n_documents,
        "L0_q": mean_terms(queries.indptr),
        "L0_d": index.meta.n_postings / index.n_documents,
        "FLOPS": flops(queries, index),
        **{item.measure: item.mean for item in measured},
        **({"measured_by": measured_by()} if measured else {}),
        **facts,
    }
    write_json(folder / "row.json", row)
    return row


def _write_run(path: Path, rankings: list[Ranking], tag: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            write_run(file, rankings, tag)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write_queries(path: Path, queries: SparseMatrix, vocabulary: Vocabulary) -> None:
    manifest = Manifest(query_store.KIND, query_store.FORMAT_VERSION, {"vocabulary": vocabulary.fingerprint})
    with write_artifact(path, manifest) as folder:
        query_store.write_query_vectors(queries, vocabulary, folder)
