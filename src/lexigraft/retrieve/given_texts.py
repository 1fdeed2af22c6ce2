"""Texts in memory, or a file of them, as documents and as an index that goes with the object that holds it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.settings import DataSettings, LexicalSettings, Settings, WordsSettings
from lexigraft.core.types import Document
from lexigraft.index.metadata_columns import GivenMetadata
from lexigraft.index.metadata_files import MetadataTable
from lexigraft.retrieve.given_values import given_values

_MISSING = object()


def documents_of(
    texts: Iterable[str],
    ids: Iterable[str] | None = None,
    titles: Iterable[str] | None = None,
    first: int = 0,
    metadata: Iterable[Mapping[str, Any]] | None = None,
    kept: GivenMetadata | None = None,
) -> Iterator[Document]:
    """A document for each text, in order; without `ids` they are numbered from `first` on. What `metadata` say of each
    is `kept`. Raises `InputError` where an id comes twice, or there are more of one thing than of another."""
    seen: set[str] = set()
    numbers = (str(number) for number in _count(first))
    named = zip(
        chain(texts, repeat(_MISSING)),
        numbers if ids is None else chain(ids, repeat(_MISSING)),
        repeat("") if titles is None else chain(titles, repeat(_MISSING)),
        repeat({}) if metadata is None else chain(metadata, repeat(_MISSING)),
        strict=False,
    )
    for place, (text, doc_id, title, values) in enumerate(named):
        if text is _MISSING:
            given = ((ids, doc_id), (titles, title), (metadata, values))
            if any(all_of is not None and one is not _MISSING for all_of, one in given):
                raise InputError(f"there are {place} texts and more ids, titles or metadata; give one for each text")
            return
        if doc_id is _MISSING or title is _MISSING or values is _MISSING:
            raise InputError(f"there are only {place} ids, titles or metadata for more texts; give one for each text")
        if not isinstance(text, str) or not isinstance(doc_id, str) or not isinstance(title, str):
            raise InputError(f"document {place} has {text!r} as text and {doc_id!r} as id; both must be strings")
        if doc_id in seen:
            raise InputError(f"the id {doc_id!r} comes twice; give every document an id of its own")
        seen.add(doc_id)
        if kept is not None and metadata is not None:
            kept.add(doc_id, given_values(values, f"the metadata of document {doc_id!r}"))
        yield Document(doc_id, title, text)


def documents_of_file(path: str | Path, fields: str, format: str) -> Iterable[Document]:
    """The documents of a file or folder of any format that is understood."""
    from lexigraft.data.sources import open_source  # searching must not wait for what reads collections
    from lexigraft.stages.collect import reading

    return open_source(str(path), reading(DataSettings(fields=fields, format=format))).documents()


def metadata_of_file(path: str | Path, fields: str, format: str) -> MetadataTable:
    """What such a file says of its documents beside their texts."""
    from lexigraft.retrieve.kept_metadata import table_of

    return table_of(str(path), DataSettings(fields=fields, format=format))


def index_documents(
    documents: Iterable[Document],
    settings: LexicalSettings | None,
    words: WordsSettings | None,
    metadata: Callable[[], MetadataTable],
) -> tuple[Path, TemporaryDirectory[str]]:
    """A live index of BM25, and the folder that it lies in."""
    from lexigraft.retrieve import live_changes  # nor for what writes indexes

    workspace = TemporaryDirectory(prefix="lexigraft-")
    index = Path(workspace.name) / "index"
    read_by = replace(Settings(), lexical=settings or LexicalSettings(), words=words or WordsSettings())
    live_changes.begin_live_bm25(index, documents, read_by, metadata)
    return index, workspace


def _count(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1
