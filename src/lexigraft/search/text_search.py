"""From text to a ranking in two steps, whatever a system's vectors are: what a hybrid is made of."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lexigraft.core.cut import QueryCut
from lexigraft.core.types import Ranking
from lexigraft.search.encoded_index import EncodedIndex
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.prune import prune_row


class TextSearch(Protocol):
    """A system with its documents, opened."""

    @property
    def n_documents(self) -> int:
        """How many documents, or passages, are searched."""
        ...

    @property
    def passages(self) -> bool:
        """Whether its rows are passages of documents."""
        ...

    def encode_all(self, texts: Sequence[str]) -> list[Any]:
        """Queries as the system searches with them, in order."""
        ...

    def search(self, query: Any, k: int, query_id: str = "") -> Ranking:
        """The k best documents for a query that was encoded, ties by `doc_id`."""
        ...

    def search_all(self, queries: Sequence[Any], k: int, query_ids: Sequence[str]) -> list[Ranking]:
        """The same of many, in order."""
        ...

    def holds(self, doc_id: str) -> bool:
        """Whether a document is there."""
        ...

    def id_at(self, row: int) -> str:
        """The id of the document of a row."""
        ...

    def shown(self, doc_id: str) -> tuple[str, str, int]:
        """(title, id of its row, number of that row) of a document that is there; of one in passages, of the first."""
        ...


class SparseTextSearch:
    """The index at `path`, searched with what `qk` keeps of a query (0: all)."""

    def __init__(self, path: Path, qk: QueryCut = 0) -> None:
        self._opened, self._qk = EncodedIndex(path), qk
        self._searcher = Searcher(self._opened.index)

    @property
    def n_documents(self) -> int:
        return self._opened.index.n_documents

    @property
    def passages(self) -> bool:
        return self._opened.index.meta.passages

    def encode_all(self, texts: Sequence[str]) -> list[Any]:
        rows = self._opened.encoder.encode_all(list(texts))
        return [prune_row(*row, self._qk) for row in rows]

    def search(self, query: Any, k: int, query_id: str = "") -> Ranking:
        return self._searcher.search(query[0], query[1], k, query_id)

    def search_all(self, queries: Sequence[Any], k: int, query_ids: Sequence[str]) -> list[Ranking]:
        return [self.search(query, k, name) for query, name in zip(queries, query_ids, strict=True)]

    def holds(self, doc_id: str) -> bool:
        return self._opened.index.holds(doc_id)

    def id_at(self, row: int) -> str:
        return self._opened.index.names(np.array([row], np.int32))[0]

    def shown(self, doc_id: str) -> tuple[str, str, int]:
        index = self._opened.index
        row = index.ordinals(doc_id)[0]
        return index.titles[row], index.doc_ids[row], row
