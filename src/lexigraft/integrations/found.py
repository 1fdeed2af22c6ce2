"""Documents that were found, with what an index keeps of them, as the frameworks hand them on."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import ArtifactError, InputError, SettingError
from lexigraft.engines.address import is_address
from lexigraft.index.metadata_values import Value
from lexigraft.index.texts import KeptText
from lexigraft.retrieve.answer import FoundDocument
from lexigraft.retrieve.finding import Asked, find, find_hits
from lexigraft.retrieve.hits import Hit
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.place import how_to_keep_texts
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.retrieve.retriever import Retriever
from lexigraft.search.batch import answer_all
from lexigraft.search.live import Place as FoundPlace

Document = FoundDocument | PlainDocument

TITLE, TEXT = "title", "text"
GIVEN = "terms"  # the kind of an index whose vectors came from elsewhere: its queries are terms, and no language


class Placed:
    """A document where an index has it, read when it is asked for, or with others by `read_in_order`."""

    def __init__(self, place: FoundPlace, state: Opened) -> None:
        self._place, self._state = place, state
        self.doc_id, self.score = place.doc_id, place.score

    @property
    def row(self) -> tuple[int, int]:
        """The same for the same row of an index; rows that lie beside each other are beside each other by it, too."""
        return id(self._place.segment), self._place.ordinal

    @cached_property
    def kept(self) -> KeptText | None:
        return self._state.text_of(self._place.segment.index, self._place.ordinal)

    @property
    def title(self) -> str:
        return self._place.title if self.kept is None else self.kept.title

    @property
    def text(self) -> str | None:
        return None if self.kept is None else self.kept.text

    @cached_property
    def metadata(self) -> dict[str, Value]:
        return self._state.metadata_of(self._place.segment.index, self._place.ordinal)


def read_in_order(documents: Iterable[Placed]) -> None:
    """Read the texts of documents, each once, in the order in which they lie: many share a compressed block."""
    last: Placed | None = None
    for one in sorted(documents, key=lambda one: one.row):
        one.kept = last.kept if last is not None and last.row == one.row else one.kept
        last = one


def open_retriever(
    path: str | Path | Retriever, system: str | None = None, qk: QueryCut | None = None, dk: DocumentCut | None = None
) -> Retriever:
    """The retriever at a path or an engine's address; one that is open already is taken as it is."""
    if not isinstance(path, Retriever):
        return Retriever.open(path, system, qk=qk, dk=dk)
    if (system, qk, dk) != (None, None, None):
        raise SettingError(f"{path.name} is open already; leave out system, qk and dk, or give its path")
    return path


def require_kept_texts(retriever: Retriever, otherwise: str) -> None:
    """Raise where documents cannot be shown with their texts; `otherwise` says how to do without."""
    if not retriever.keeps_texts:
        raise ArtifactError(f"{how_to_keep_texts(retriever.place)}; {otherwise}")


def require_fields(retriever: Retriever, fields: Sequence[str]) -> None:
    """Raise for a field that no document can have."""
    if TEXT in fields:
        require_kept_texts(retriever, "or leave out the field 'text'")
    metadata = None if retriever.place.kind else retriever.opened.metadata
    known = sorted({TITLE, TEXT, *(() if metadata is None else metadata.columns)})
    for field in fields:
        if field not in known:
            raise InputError(f"{retriever.name} has no field {field!r}; one of {', '.join(known)}")


def value_of(document: Document | Placed, field: str) -> Any:
    """A field of a document; None where it has no value."""
    if field in (TITLE, TEXT):
        return getattr(document, field)
    return document.metadata.get(field)


def metadata_of(document: Document) -> dict[str, Any]:
    """All that is known of a document beside its text, as plain values; its title where it has one."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in document.metadata.items()}
    return {TITLE: document.title, **values} if document.title else values


def row_of(retriever: Retriever, weights: Mapping[str, float]) -> Row:
    """A query that is given as {term: weight}, by the terms of the index; those that no document has are left out."""
    if is_address(retriever.name):
        raise SettingError(f"{retriever.name} is an engine; query vectors are searched in an index on this machine")
    known = retriever.vocabulary.id_of
    for term, weight in weights.items():
        if not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise InputError(f"term {term!r} of a query weighs {weight!r}; give a number from 0 on")
    row = sorted((known[term], weight) for term, weight in weights.items() if weight > 0 and term in known)
    return np.array([term for term, _ in row], np.int32), np.array([weight for _, weight in row], np.float32)


def hits_of_rows(retriever: Retriever, rows: Sequence[Row], asked: Asked, threads: int = 0) -> list[list[Hit]]:
    """The best documents for the vectors of queries, in order."""
    state = retriever.opened
    return answer_all(lambda at: find_hits(state, "", rows[at], asked), len(rows), threads)


def documents_of_rows(retriever: Retriever, rows: Sequence[Row], asked: Asked, threads: int = 0) -> list[list[Placed]]:
    """The same, with what is known of them."""
    state = retriever.opened

    def one(at: int) -> list[Placed]:
        return [Placed(place, state) for place in find(state, "", rows[at], asked)]

    return answer_all(one, len(rows), threads)


def documents_of_texts(
    retriever: Retriever, texts: Sequence[str], asked: Asked, threads: int = 0
) -> Sequence[Sequence[Placed | Document]]:
    """The best documents for queries, with what is known of them. Of an index, why they were found is not worked out,
    which takes longer than finding them."""
    if retriever.place.kind or is_address(retriever.name):
        k, where, overlap, *_ = asked
        return answer_all(lambda at: retriever.answer(texts[at], k, where, overlap).hits, len(texts), threads)
    return documents_of_rows(retriever, retriever.opened.encode_all(list(texts)), asked, threads)


def require_encoder(retriever: Retriever) -> None:
    """Raise where nothing here writes queries for the index: a question would be taken for the names of terms."""
    if not retriever.place.kind and retriever.opened.index.query_encoder.get("kind") == GIVEN:
        raise InputError(
            f"{retriever.name} was made of vectors that were given, and nothing here encodes questions for it; give "
            "them as vectors, too: PyTerrier's column query_toks"
        )
