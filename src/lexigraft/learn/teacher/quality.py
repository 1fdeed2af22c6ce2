"""What a teacher is worth: BM25's best documents of the measured queries, ranked anew by it (F1)."""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import write_json
from lexigraft.core.errors import InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Query, Ranking
from lexigraft.data.collection import Collection
from lexigraft.learn.teacher.scoring import score_to_file, wanted_pairs
from lexigraft.measure.measures import judgements, reciprocal_rank
from lexigraft.measure.trec import read_run, trec_id, write_run
from lexigraft.model.cross_encoder import CrossEncoder
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.stages.layout import QUALITY

DEPTH = 100
BM25, TEACHER = "bm25", "teacher"
MEASURE = "MRR@10"

log = logging.getLogger(__name__)


def measure_teacher(
    model: CrossEncoder,
    collection: Collection,
    split: str,
    index: Path,
    n_queries: int,
    folder: Path,
    work: Path,
    depends_on: dict[str, Any],
    progress: Progress = SILENT,
) -> None:
    """Leave the best documents of `index`, BM25's, for at most `n_queries` queries of a split in `folder`, the same in
    the teacher's order, and MRR@10 of both; a teacher that is the worse is warned of. Queries are taken evenly; what is
    scored lies in `work` until then."""
    judged = judgements(collection.qrels(split))
    queries = [query for query in collection.queries() if query.query_id in judged]
    if not queries:
        raise InputError(f"no known query of split {split!r} has a relevant document; nothing can be measured")
    queries = [queries[place] for place in np.linspace(0, len(queries) - 1, min(n_queries, len(queries))).astype(int)]
    files = {name: folder / f"{name}.trec" for name in (BM25, TEACHER)}
    with files[BM25].open("w", encoding="utf-8") as file:
        write_run(file, _search(index, queries), BM25)
    wanted = wanted_pairs(files[BM25], (), collection)
    score_to_file(model, collection, wanted, files[TEACHER], work, depends_on, progress)
    grades = {
        trec_id(query.query_id): {trec_id(doc_id): grade for doc_id, grade in judged[query.query_id].items()}
        for query in queries
    }
    found = {name: _mrr(file, grades) for name, file in files.items()}
    if found[TEACHER] < found[BM25]:
        message = "the teacher ranks worse than BM25 (%s %.4f and %.4f); train it longer before anything learns from it"
        log.warning(message, MEASURE, found[TEACHER], found[BM25])
    facts = {"split": split, "queries": len(queries), "depth": DEPTH}
    write_json(folder / QUALITY, facts | {name: {MEASURE: value} for name, value in found.items()})


def _search(index: Path, queries: list[Query]) -> Iterable[Ranking]:
    opened = EncodedIndex(index)
    return Searcher(opened.index).search_batch(opened.encode_queries(queries), DEPTH, os.cpu_count() or 1)


def _mrr(run: Path, grades: dict[str, dict[str, int]]) -> float:
    """A query that nothing was found for counts 0."""
    ranked = {ranking.query_id: ranking.doc_ids for ranking in read_run(run)}
    return sum(reciprocal_rank(ranked.get(query, ()), judged, 10) for query, judged in grades.items()) / len(grades)
