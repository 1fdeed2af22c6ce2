"""Texts in memory, or a file of them, as documents and as an index that goes with the object that holds it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

from lexigraft.core.errors import InputError
from lexigraft.core.settings import DataSettings, LexicalSettings, Settings, WordsSettings
from lexigraft.core.types import Document

_MISSING = object()


def documents_of(
    texts: Iterable[str], ids: Iterable[str] | None = None, titles: Iterable[str] | None = None, first: int = 0
) -> Iterator[Document]:
    """A document for each text, in order; without `ids` they are numbered from `first` on. Raises `InputError` where an
    id comes twice, or there are more of one thing than of another."""
    if isinstance(texts, str):
        raise InputError("texts is one string; give a list of texts")
    seen: set[str] = set()
    numbers = (str(number) for number in _count(first))
    named = zip(
        chain(texts, repeat(_MISSING)),
        numbers if ids is None else chain(ids, repeat(_MISSING)),
        repeat("") if titles is None else chain(titles, repeat(_MISSING)),
        strict=False,
    )
    for place, (text, doc_id, title) in enumerate(named):
        if text is _MISSING:
            if (ids is not None and doc_id is not _MISSING) or (titles is not None and title is not _MISSING):
                raise InputError(f"there are {place} texts and more ids or titles; give one for each text")
            return
        if doc_id is _MISSING or title is _MISSING:
            raise InputError(f"there are only {place} ids or titles for more texts; give one for each text")
        if not isinstance(text, str) or not isinstance(doc_id, str) or not isinstance(title, str):
            raise InputError(f"document {place} has {text!r} as text and {doc_id!r} as id; both must be strings")
        if doc_id in seen:
            raise InputError(f"the id {doc_id!r} comes twice; give every document an id of its own")
        seen.add(doc_id)
        yield Document(doc_id, title, text)


def documents_of_file(path: str | Path, fields: str, format: str) -> Iterable[Document]:
    """The documents of a file or folder of any format that is understood."""
    from lexigraft.data.sources import open_source  # searching must not wait for what reads collections
    from lexigraft.stages.collect import reading

    return open_source(str(path), reading(DataSettings(fields=fields, format=format))).documents()


def index_documents(
    documents: Iterable[Document], settings: LexicalSettings | None, words: WordsSettings | None
) -> tuple[Path, TemporaryDirectory[str]]:
    """A live index of BM25, and the folder that it lies in."""
    from lexigraft.retrieve import live_changes  # nor for what writes indexes

    workspace = TemporaryDirectory(prefix="lexigraft-")
    index = Path(workspace.name) / "index"
    read_by = replace(Settings(), lexical=settings or LexicalSettings(), words=words or WordsSettings())
    live_changes.begin_live_bm25(index, documents, read_by)
    return index, workspace


def _count(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1
