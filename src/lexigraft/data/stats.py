"""Counts and mean lengths of a collection (D4), in one pass over its documents.

Memory holds the judgements, and for documents 16 to 32 bytes each to tell ids and titles apart.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Qrel
from lexigraft.data.collection import Collection
from lexigraft.data.duplicates import FirstLines


@dataclass(frozen=True)
class SplitStats:
    """Of one split: the columns of the vocabulary study's tables, over its positive judgements, and what else it holds.
    `unique_titles` are those of its documents (the text, where a document has no title); lengths are in words."""

    pairs: int
    unique_titles: int
    queries: int
    documents: int
    documents_per_query: float
    queries_per_document: float
    mean_query_words: float
    not_relevant: int  # judgements of 0 or less
    queries_without_positives: int
    unknown_queries: int
    unknown_documents: int


@dataclass(frozen=True)
class CollectionStats:
    """`records` are documents as they are in the file, of which `duplicate_ids` repeat an id."""

    name: str
    records: int
    duplicate_ids: int
    documents: int
    unique_titles: int
    empty_documents: int
    mean_document_words: float
    mean_title_words: float
    queries: int
    mean_query_words: float
    splits: Mapping[str, SplitStats]


def collection_stats(collection: Collection, progress: Progress = SILENT) -> CollectionStats:
    """Count a collection that was opened to keep duplicates, so that they can be counted."""
    judged = {split: collection.qrels(split) for split in collection.splits}
    title_of = dict.fromkeys((qrel.doc_id for qrels in judged.values() for qrel in qrels), 0)
    words = title_words = empty = records = 0
    ids, titles = FirstLines(), FirstLines()
    for records, document in enumerate(progress.track(collection.documents(), "reading documents"), 1):
        if ids.first_lines([document.doc_id], [records]) != [records]:
            continue
        n_words = len(document.contents.split())
        words, empty = words + n_words, empty + (n_words == 0)
        title_words += len(document.title.split())
        if document.title:
            titles.first_lines([document.title], [records])
        if document.doc_id in title_of:
            title_of[document.doc_id] = hash(document.title or document.text) or 1
    query_words = {query.query_id: len(query.text.split()) for query in collection.queries()}
    return CollectionStats(
        name=collection.name,
        records=records,
        duplicate_ids=records - ids.count,
        documents=ids.count,
        unique_titles=titles.count,
        empty_documents=empty,
        mean_document_words=_ratio(words, ids.count),
        mean_title_words=_ratio(title_words, ids.count),
        queries=len(query_words),
        mean_query_words=_ratio(sum(query_words.values()), len(query_words)),
        splits={split: _split_stats(qrels, query_words, title_of) for split, qrels in judged.items()},
    )


def _split_stats(qrels: Iterable[Qrel], query_words: Mapping[str, int], title_of: Mapping[str, int]) -> SplitStats:
    """`title_of`: a number for each judged document's title, 0 where the document is not in the collection."""
    all_qrels = list(qrels)
    positives = [qrel for qrel in all_qrels if qrel.relevance > 0]
    queries = Counter(qrel.query_id for qrel in positives)
    documents = Counter(qrel.doc_id for qrel in positives)
    known = [query for query in queries if query in query_words]
    return SplitStats(
        pairs=len(positives),
        unique_titles=len({title_of[doc_id] for doc_id in documents} - {0}),
        queries=len(queries),
        documents=len(documents),
        documents_per_query=_ratio(len(positives), len(queries)),
        queries_per_document=_ratio(len(positives), len(documents)),
        mean_query_words=_ratio(sum(query_words[query] for query in known), len(known)),
        not_relevant=len(all_qrels) - len(positives),
        queries_without_positives=len({qrel.query_id for qrel in all_qrels} - queries.keys()),
        unknown_queries=len(queries) - len(known),
        unknown_documents=sum(title_of[doc_id] == 0 for doc_id in documents),
    )


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
