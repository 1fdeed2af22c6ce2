"""Texts in memory to documents, and documents to a BM25 index, without a collection on disk."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.config import settings_config
from lexigraft.core.errors import InputError
from lexigraft.core.settings import IndexSettings, LexicalSettings
from lexigraft.core.types import Document
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.lexical import encode_documents

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


def _count(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1


def make_index(documents: Iterable[Document], out: Path, settings: LexicalSettings) -> None:
    """Write the BM25 index of the documents to `out`."""
    config = settings_config(settings)
    vectors = out.with_name(f"{out.name}.vectors")
    with write_artifact(vectors, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config)) as folder:
        encode_documents(documents, settings, folder)
    opened = vectors_store.open_vectors(vectors, checksums=False)
    with write_artifact(out, Manifest(index_store.KIND, index_store.FORMAT_VERSION, config)) as folder:
        build_index(opened, folder, 0, IndexSettings())
