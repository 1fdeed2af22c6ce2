"""What a teacher is worth: BM25's best documents of the measured queries, ranked anew by it (F1)."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.types import Qrel, Query, Ranking
from lexigraft.data.collection import Collection
from lexigraft.learn.teacher.scoring import score_to_file, wanted_pairs
from lexigraft.measure.measures import judgements, reciprocal_rank
from lexigraft.measure.trec import read_run, write_run
from lexigraft.model.cross_encoder import CrossEncoder
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.stages.layout import QUALITY

DEPTH = 100
BM25, TEACHER = "bm25", "teacher"
MEASURE = "MRR@10"


class Asked(NamedTuple):
    """Judged queries, at most `n_queries` of them, and what they are called."""

    split: str
    qrels: Sequence[Qrel]
    n_queries: int


class Worth(NamedTuple):
    """MRR@10 of BM25, and of the teacher over BM25's best documents."""

    bm25: float
    teacher: float

    @property
    def is_worse(self) -> bool:
        return self.teacher < self.bm25


def read_worth(folder: Path) -> Worth:
    """What `measure_teacher` left."""
    found = read_sealed(folder / QUALITY)
    return Worth(float(found[BM25][MEASURE]), float(found[TEACHER][MEASURE]))


def measure_teacher(
    model: CrossEncoder,
    collection: Collection,
    on: Asked,
    index: Path,
    folder: Path,
    work: Path,
    depends_on: dict[str, Any],
    progress: Progress = SILENT,
) -> None:
    """Leave the best documents of `index`, BM25's, for the queries of `on` in `folder`, the same in the teacher's
    order, and MRR@10 of both. Queries are taken evenly; what is scored lies in `work` until then."""
    split, qrels, n_queries = on
    judged = judgements(qrels)
    queries = [query for query in collection.queries() if query.query_id in judged]
    if not queries:
        raise InputError(f"no known query of split {split!r} has a relevant document; nothing can be measured")
    queries = [queries[place] for place in np.linspace(0, len(queries) - 1, min(n_queries, len(queries))).astype(int)]
    files = {name: folder / f"{name}.trec" for name in (BM25, TEACHER)}
    with files[BM25].open("w", encoding="utf-8") as file:
        write_run(file, _search(index, queries), BM25)
    wanted = wanted_pairs(files[BM25], (), collection)
    score_to_file(model, collection, wanted, files[TEACHER], work, depends_on, progress)
    grades = {query.query_id: judged[query.query_id] for query in queries}
    found = {name: _mrr(file, grades) for name, file in files.items()}
    facts = {"split": split, "queries": len(queries), "depth": DEPTH}
    write_json(folder / QUALITY, facts | {name: {MEASURE: value} for name, value in found.items()})


def _search(index: Path, queries: list[Query]) -> Iterable[Ranking]:
    opened = EncodedIndex(index)
    return Searcher(opened.index).search_batch(opened.encode_queries(queries), DEPTH, os.cpu_count() or 1)


def _mrr(run: Path, grades: dict[str, dict[str, int]]) -> float:
    """A query that nothing was found for counts 0."""
    ranked = {ranking.query_id: ranking.doc_ids for ranking in read_run(run)}
    return sum(reciprocal_rank(ranked.get(query, ()), judged, 10) for query, judged in grades.items()) / len(grades)
