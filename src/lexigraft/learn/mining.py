"""Hard negatives by search: what an index ranks high for training queries and no judgement calls relevant (F1)."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.core.plain_files import written_aside
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.core.types import Query, Ranking
from lexigraft.data.collection import Collection
from lexigraft.data.sources import open_source
from lexigraft.dense.store import KIND as DENSE_VECTORS
from lexigraft.dense.text_search import DenseTextSearch
from lexigraft.learn.training_data import TRAIN
from lexigraft.measure.trec import write_run
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.stages.collect import collected, reading
from lexigraft.stages.layout import JUDGED, RunFolder

QUERIES_AT_ONCE = 4096
TAG = "mined"


class Mined(NamedTuple):
    """What a file of negatives holds: `without` is how many of the queries found none."""

    index_path: Path
    queries: int
    documents: int
    without: int


def mine_run(
    run: Path,
    system: str | None,
    source: str,
    out: Path,
    depth: int,
    settings: Settings,
    progress: Progress = SILENT,
) -> Mined:
    """`mine` with the index of a run's system (None: its default), of the view that holds the training documents."""
    folder = RunFolder(run)
    searchable = folder.searchable_index(system)
    judged = folder.index(JUDGED, searchable.parent.name, 0)
    collection = collected(source, settings.data, folder.collection)[JUDGED]
    return mine(judged if judged.is_dir() else searchable, collection, out, depth, progress)


def mine_index(
    index: Path, source: str, out: Path, depth: int, settings: Settings, progress: Progress = SILENT
) -> Mined:
    """`mine` with an index made by itself."""
    return mine(index, open_source(source, reading(settings.data)), out, depth, progress)


def mine(index: Path, collection: Collection, out: Path, depth: int, progress: Progress = SILENT) -> Mined:
    """Write the `depth` highest documents of every training query that are not relevant to it as a TREC run to `out`,
    which appears whole or not at all."""
    if depth < 1:
        raise SettingError(f"depth = {depth} is not allowed: 1 or more")
    if out.is_dir():
        raise ArtifactError(f"{out} is a folder; give the name of a file for the run")
    relevant = _relevant(collection)
    queries = [query for query in collection.queries() if query.query_id in relevant]
    if not queries:
        raise InputError(f"{collection.name}: no query has a positive training judgement; there is nothing to mine for")
    found = progress.track(_rankings(index, queries, relevant, depth), "mining", len(queries))
    n_documents = n_without = 0
    with written_aside(out) as aside, aside.open("w", encoding="utf-8") as file:
        for ranking in found:
            write_run(file, (ranking,), TAG)
            n_documents += len(ranking.doc_ids)
            n_without += not ranking.doc_ids
    return Mined(index, len(queries), n_documents, n_without)


def _relevant(collection: Collection) -> dict[str, set[str]]:
    if TRAIN not in collection.splits:
        raise InputError(f"{collection.name} has no training judgements (qrels/train.tsv) to mine negatives for")
    relevant: dict[str, set[str]] = defaultdict(set)
    for qrel in collection.qrels(TRAIN):
        if qrel.relevance > 0:
            relevant[qrel.query_id].add(qrel.doc_id)
    return relevant


def _rankings(index: Path, queries: list[Query], relevant: dict[str, set[str]], depth: int) -> Iterator[Ranking]:
    """The rankings of the queries, in order, without what is relevant; searched some thousand at a time."""
    search = _search_of(index)
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        some = queries[start : start + QUERIES_AT_ONCE]
        deeper = depth + max(len(relevant[query.query_id]) for query in some)
        for ranking in search(some, deeper):
            yield _without(ranking, relevant[ranking.query_id], depth)


def _search_of(path: Path) -> Callable[[list[Query], int], Iterable[Ranking]]:
    """What searches many queries at once, k deep: of an index, or of the vectors of a dense system."""
    made = read_manifest(path)
    if made is not None and made.kind == DENSE_VECTORS:
        dense = DenseTextSearch(path, on_gpu=True)
        return lambda some, k: dense.search_all(
            dense.encode_all([query.text for query in some]), k, [query.query_id for query in some]
        )
    opened = EncodedIndex(path, on_gpu=True)
    searcher = Searcher(opened.index)
    return lambda some, k: searcher.search_batch(opened.encode_queries(some), k, os.cpu_count() or 1)


def _without(ranking: Ranking, relevant: set[str], depth: int) -> Ranking:
    kept = [place for place, doc_id in enumerate(ranking.doc_ids) if doc_id not in relevant][:depth]
    names, scores = ranking.doc_ids, ranking.scores
    return Ranking(ranking.query_id, tuple(names[at] for at in kept), tuple(scores[at] for at in kept))
