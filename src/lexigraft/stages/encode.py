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
from lexigraft.index.texts import TextWriter
from lexigraft.vectors.lexical import encode_documents


def searched_documents(
    collection: Collection, settings: DataSettings, progress: Progress = SILENT
) -> Iterator[Document]:
    """What is encoded and indexed: documents, or their passages."""
    documents: Iterable[Document] = progress.track(collection.documents(), "encoding documents")
    if settings.in_passages:
        documents = cut_passages(documents, settings.passage_words, settings.passage_overlap, settings.passage_by)
    return iter(documents)


def passage_config(settings: DataSettings) -> dict[str, int | str]:
    """How documents are cut, for a recipe; empty where they are not."""
    if not settings.in_passages:
        return {}
    # Recipes from before there was a choice do not name it.
    by = {"passage_by": settings.passage_by} if settings.passage_by != "words" else {}
    return {"passage_words": settings.passage_words, "passage_overlap": settings.passage_overlap, **by}


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
    texts: TextWriter | None = None,
) -> None:
    """Documents, or their passages, to BM25 vectors; `texts` keeps what they say on the way."""
    documents = searched_documents(collection, data, progress)
    if texts is not None:
        documents = texts.passing(documents)
    encode_documents(documents, settings, folder, data.in_passages, rule)
