"""Counts and mean lengths of a collection (D4), in one pass over its documents."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lexigraft.core.progress import SILENT, Progress
from lexigraft.data.collection import Collection


@dataclass(frozen=True)
class SplitStats:
    """Of the positive judgements of one split; lengths are in whitespace-separated words."""

    pairs: int
    queries: int
    documents: int
    documents_per_query: float
    queries_per_document: float
    mean_query_words: float
    unknown_queries: int
    unknown_documents: int


@dataclass(frozen=True)
class CollectionStats:
    name: str
    documents: int
    unique_titles: int
    empty_documents: int
    mean_document_words: float
    queries: int
    mean_query_words: float
    splits: Mapping[str, SplitStats]


def collection_stats(collection: Collection, progress: Progress = SILENT) -> CollectionStats:
    words, empty, titles, doc_ids = 0, 0, set(), set()
    for document in progress.track(collection.documents(), "reading documents"):
        n_words = len(document.contents.split())
        words, empty = words + n_words, empty + (n_words == 0)
        doc_ids.add(document.doc_id)
        titles.add(hash(document.title))
    query_words = {query.query_id: len(query.text.split()) for query in collection.queries()}
    return CollectionStats(
        name=collection.name,
        documents=len(doc_ids),
        unique_titles=len(titles),
        empty_documents=empty,
        mean_document_words=_ratio(words, len(doc_ids)),
        queries=len(query_words),
        mean_query_words=_ratio(sum(query_words.values()), len(query_words)),
        splits={split: _split_stats(collection, split, query_words, doc_ids) for split in collection.qrels_files},
    )


def _split_stats(collection: Collection, split: str, query_words: Mapping[str, int], doc_ids: set[str]) -> SplitStats:
    positives = [qrel for qrel in collection.qrels(split) if qrel.relevance > 0]
    queries = Counter(qrel.query_id for qrel in positives)
    documents = Counter(qrel.doc_id for qrel in positives)
    known = [query for query in queries if query in query_words]
    return SplitStats(
        pairs=len(positives),
        queries=len(queries),
        documents=len(documents),
        documents_per_query=_ratio(len(positives), len(queries)),
        queries_per_document=_ratio(len(positives), len(documents)),
        mean_query_words=_ratio(sum(query_words[query] for query in known), len(known)),
        unknown_queries=len(queries) - len(known),
        unknown_documents=len(documents.keys() - doc_ids),
    )


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
