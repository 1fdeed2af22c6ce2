"""Haystack: embedders that write sparse embeddings, and a retriever over a run, an index or an engine."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import InputError, SettingError, require
from lexigraft.core.progress import SILENT
from lexigraft.integrations.addresses import without_secret
from lexigraft.integrations.encoding import BATCH_SIZE, RowEncoder, SparseRow
from lexigraft.integrations.found import Document as Found
from lexigraft.integrations.found import metadata_of, require_encoder, require_kept_texts
from lexigraft.integrations.haystack_filters import Filters, condition_of
from lexigraft.integrations.missing import missing_framework
from lexigraft.retrieve.retriever import Retriever

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.dataclasses import SparseEmbedding
    from haystack.errors import FilterError
    from tqdm import tqdm
except ImportError as error:
    raise missing_framework("lexigraft.integrations.haystack", "haystack-ai", "haystack", error) from error

Item = TypeVar("Item")


class Bars:
    """Progress as Haystack's embedders show it."""

    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        yield from tqdm(items, desc=label, total=total)


@component
class LexigraftTextEmbedder:
    """A query to the sparse embedding that the model at `model`, or that of the run there, writes: its term ids and
    weights. `qk`: terms kept, 0 for all."""

    def __init__(self, model: str, qk: QueryCut = 0) -> None:
        self.model, self.qk = os.fspath(model), qk
        self._rows = RowEncoder(self.model, are_queries=True, keep=qk)

    def warm_up(self) -> None:
        """Open the model."""
        self._rows.open()

    @component.output_types(sparse_embedding=SparseEmbedding)
    def run(self, text: str) -> dict[str, Any]:
        if not isinstance(text, str):
            raise TypeError(f"LexigraftTextEmbedder expects a string, not {text!r:.100}")
        (row,) = self._rows.rows([text])
        return {"sparse_embedding": _embedding(row)}

    def to_dict(self) -> dict[str, Any]:
        return _written(self, model=self.model, qk=self.qk)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LexigraftTextEmbedder":
        return _read(cls, data)


@component
class LexigraftDocumentEmbedder:
    """Documents with the sparse embeddings that the model at `model`, or that of the run there, writes of their
    content, after the fields of their meta in `meta_fields_to_embed`. `dk`: terms kept, 0 for all."""

    def __init__(
        self, model: str, dk: DocumentCut = 0, batch_size: int = BATCH_SIZE, progress_bar: bool = True,
        meta_fields_to_embed: list[str] | None = None, embedding_separator: str = "\n",
    ) -> None:  # fmt: skip
        self.model, self.dk, self.batch_size, self.progress_bar = os.fspath(model), dk, batch_size, progress_bar
        self.meta_fields_to_embed, self.embedding_separator = meta_fields_to_embed or [], embedding_separator
        self._rows = RowEncoder(self.model, are_queries=False, keep=dk, batch_size=batch_size)

    def warm_up(self) -> None:
        """Open the model."""
        self._rows.open()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        if not isinstance(documents, list) or not all(isinstance(one, Document) for one in documents):
            raise TypeError("LexigraftDocumentEmbedder expects a list of Documents; one text is for the other embedder")
        texts = [self._text_of(document) for document in documents]
        rows = self._rows.rows(texts, Bars() if self.progress_bar else SILENT)
        written = [replace(one, sparse_embedding=_embedding(row)) for one, row in zip(documents, rows, strict=True)]
        return {"documents": written}

    def _text_of(self, document: Document) -> str:
        fields = [str(document.meta[key]) for key in self.meta_fields_to_embed if document.meta.get(key) is not None]
        return self.embedding_separator.join([*fields, document.content or ""])

    def to_dict(self) -> dict[str, Any]:
        return _written(
            self, model=self.model, dk=self.dk, batch_size=self.batch_size, progress_bar=self.progress_bar,
            meta_fields_to_embed=self.meta_fields_to_embed, embedding_separator=self.embedding_separator,
        )  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LexigraftDocumentEmbedder":
        return _read(cls, data)


@component
class LexigraftRetriever:
    """A query to documents, with their content, score, meta (title and all else that is known) and own ids.

    `path`: as `lexigraft.Retriever.open` takes it with `system`, `qk` and `dk`. `filters` are Haystack's, those of a
    call in place of those given here; `where` are conditions that always hold. Without `texts`, content is the title
    alone, for an index that keeps no texts. A pipeline that is written down has no secret of an engine's address.
    """

    def __init__(
        self, path: str, top_k: int = 10, filters: Filters | None = None, where: str | list[str] | None = None,
        system: str | None = None, qk: QueryCut | None = None, dk: DocumentCut | None = None, overlap: float = 0.0,
        texts: bool = True,
    ) -> None:  # fmt: skip
        self.path, self.top_k, self.filters, self.where = os.fspath(path), _checked(top_k), filters, where
        self.system, self.qk, self.dk, self.overlap, self.texts = system, qk, dk, overlap, texts
        self._conditions(None)
        self._opened: tuple[object, Retriever] | None = None

    def warm_up(self) -> None:
        """Open what is searched."""
        self._open()

    def _open(self) -> Retriever:
        said, held = (self.path, self.system, self.qk, self.dk, self.texts), self._opened
        if held is None or held[0] != said:
            held = said, Retriever.open(self.path, self.system, qk=self.qk, dk=self.dk)
            require_encoder(held[1])
            if self.texts:
                require_kept_texts(held[1], "or take texts=False, which shows titles alone")
            self._opened = held
        return held[1]

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None, filters: Filters | None = None) -> dict[str, Any]:
        if not isinstance(query, str):
            raise TypeError(f"LexigraftRetriever expects a string as query, not {query!r:.100}")
        top_k, conditions = self.top_k if top_k is None else _checked(top_k), self._conditions(filters)
        try:
            found = self._open().answer(query, top_k, conditions, self.overlap).hits
        except SettingError as error:
            if any(f"the condition {one!r}" in str(error) for one in conditions):  # it says which one is wrong
                raise FilterError(str(error)) from None
            raise
        return {"documents": [_document(one, self.texts) for one in found]}

    def _conditions(self, filters: Filters | None) -> Sequence[str]:
        given, always = filters or self.filters, self.where or []
        try:
            asked = [condition_of(given)] if given else []
        except InputError as error:
            raise FilterError(str(error)) from None
        return [*([always] if isinstance(always, str) else always), *asked]

    def to_dict(self) -> dict[str, Any]:
        return _written(
            self, path=without_secret(self.path), top_k=self.top_k, filters=self.filters, where=self.where,
            system=self.system, qk=self.qk, dk=self.dk, overlap=self.overlap, texts=self.texts,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        """What is open stays behind in a copy, which opens it again."""
        return {**vars(self), "_opened": None}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LexigraftRetriever":
        return _read(cls, data)


def _checked(top_k: int) -> int:
    require(isinstance(top_k, int) and top_k > 0, "top_k", top_k, "a whole number from 1 on")
    return top_k


def _embedding(row: SparseRow) -> SparseEmbedding:
    return SparseEmbedding(indices=row.indices, values=row.values)


def _document(found: Found, with_text: bool) -> Document:
    content = found.text if with_text else found.title
    # Of what the engine or the index has lost the text, the title is shown.
    content = found.title if content is None else content
    return Document(id=found.doc_id, content=content, meta=metadata_of(found), score=found.score)


def _written(made: object, **given: Any) -> dict[str, Any]:
    written: dict[str, Any] = default_to_dict(made, **given)
    return written


def _read(kind: type[Item], data: dict[str, Any]) -> Item:
    made: Item = default_from_dict(kind, data)
    return made
