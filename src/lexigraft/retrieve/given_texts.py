"""Texts in memory as documents, without a collection on disk."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from lexigraft.core.errors import InputError
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


def _count(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1
