"""The stage that encodes: documents, or their passages, to the vectors of BM25."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings import DataSettings, LexicalSettings
from lexigraft.core.types import Document
from lexigraft.core.word_rule import WordRule
from lexigraft.data.collection import Collection
from lexigraft.data.passages import cut_passages
from lexigraft.vectors.lexical import encode_documents


def searched_documents(collection: Collection, settings: DataSettings, progress: Progress) -> Iterator[Document]:
    """What is encoded and indexed: documents, or their passages."""
    documents: Iterable[Document] = progress.track(collection.documents(), "encoding documents")
    if settings.passage_words:
        documents = cut_passages(documents, settings.passage_words, settings.passage_overlap)
    return iter(documents)


def passage_config(settings: DataSettings) -> dict[str, int]:
    """How documents are cut, for a recipe; empty where they are not."""
    if not settings.passage_words:
        return {}
    return {"passage_words": settings.passage_words, "passage_overlap": settings.passage_overlap}


def lexical_settings(system: str, settings: LexicalSettings) -> LexicalSettings:
    """`bm25` as it is set; `bm25-plain` is the same without stop-words and stemming."""
    return replace(settings, stopwords="none", stemmer="none") if system == "bm25-plain" else settings.decided()


def encode_lexical(
    collection: Collection,
    data: DataSettings,
    settings: LexicalSettings,
    rule: WordRule,
    folder: Path,
    progress: Progress = SILENT,
) -> None:
    """Documents, or their passages, to BM25 vectors."""
    documents = searched_documents(collection, data, progress)
    encode_documents(documents, settings, folder, bool(data.passage_words), rule)
