"""A file of text generated for the queries or documents of a collection."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import Settings
from lexigraft.data.collection import CORPUS, QUERIES, Collection
from lexigraft.expand.generate import generate_file
from lexigraft.expand.settings import GenerateSettings
from lexigraft.stages.vocabularies import judged_collection
from lexigraft.study.expansion.work import ALL_QUERIES

OF = ("queries", "documents")


def generate_text(
    source: str, of: str, model: str, out: Path, settings: Settings, how: GenerateSettings, split: str = ALL_QUERIES,
    limit: int = 0, progress: Progress = SILENT,
) -> int:  # fmt: skip
    """Write what `model` generates for the first `limit` (0: all) queries of `split`, or documents, of `source` to
    `out`, a line each; gives their number."""
    if of not in OF:
        raise SettingError(f"--of {of} is not known: {' or '.join(OF)}")
    with judged_collection(source, settings.data, progress) as collection:
        chosen = collection.evaluation_split(split) if of == "queries" and split != ALL_QUERIES else None
        inputs = _queries(collection, chosen) if of == "queries" else _documents(collection)
        digest = collection.digest(QUERIES if of == "queries" else CORPUS)
        described = f"{of} {split if of == 'queries' else ''} {limit} {digest}"
        if chosen is not None:  # which queries there are follows from who judged them
            described = f"{described} {collection.digest(chosen)}"
        return generate_file(model, islice(inputs, limit or None), out, how, described, progress, limit or None)


def _queries(collection: Collection, split: str | None) -> Iterator[tuple[str, str]]:
    judged = None if split is None else {qrel.query_id for qrel in collection.qrels(split) if qrel.relevance > 0}
    for query in collection.queries():
        if judged is None or query.query_id in judged:
            yield query.query_id, query.text


def _documents(collection: Collection) -> Iterator[tuple[str, str]]:
    return ((document.doc_id, document.contents) for document in collection.documents())
