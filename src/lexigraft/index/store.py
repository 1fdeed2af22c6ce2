"""An inverted index on disk: the files of an `index` artifact, read by memory map.

indptr.npy        int64 [terms + 1]   where each term's postings start
doc_ordinals.npy  int32 [postings]    documents, ascending within a list
impacts.npy       uint8 [postings]    quantised weights
list_max.npy      uint8 [terms]       the largest impact of each list, 0 for an empty one
tie_rank.npy      int32 [documents]   position of each document in `doc_id` order, which breaks ties
doc_ids.*, titles.*, terms.*          string tables
meta.json                             counts, scale, pruning, vocabulary fingerprint, query encoder
"""

import bisect
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary, document_of, passage_id

KIND, FORMAT_VERSION = "index", 1


@dataclass(frozen=True)
class IndexMeta:
    n_documents: int
    n_terms: int
    n_postings: int
    scale: float
    keep: int
    vocab_fingerprint: str
    query_encoder: Mapping[str, Any]
    passages: bool = False  # rows are passages "ID#n" of documents, whose scores are folded by maximum


@dataclass(frozen=True)
class Index:
    """Postings of every term; `impact * scale` approximates the weight. Documents have internal ordinals 0..n-1."""

    doc_ids: StringTable
    titles: StringTable
    vocabulary: Vocabulary
    indptr: NDArray[np.int64]
    doc_ordinals: NDArray[np.int32]
    impacts: NDArray[np.uint8]
    list_max: NDArray[np.uint8]
    tie_rank: NDArray[np.int32]
    meta: IndexMeta

    @property
    def n_documents(self) -> int:
        return self.meta.n_documents

    @property
    def n_terms(self) -> int:
        return self.meta.n_terms

    @cached_property
    def ordinal_of_rank(self) -> NDArray[np.int32]:
        """The inverse of `tie_rank`."""
        inverse = np.empty_like(self.tie_rank)
        inverse[self.tie_rank] = np.arange(len(self.tie_rank), dtype=np.int32)
        return inverse

    @cached_property
    def document_rank(self) -> NDArray[np.int32]:
        """Of a passage index: the place of each row's document in `doc_id` order; rows of one document share it."""
        documents = [document_of(identifier) for identifier in self.doc_ids]
        rank = {identifier: place for place, identifier in enumerate(sorted(set(documents)))}
        return np.array([rank[identifier] for identifier in documents], np.int32)

    def names(self, ordinals: NDArray[np.int32]) -> list[str]:
        """The ids of the documents that rows belong to."""
        found = list(self.doc_ids.take(ordinals))
        return [document_of(identifier) for identifier in found] if self.meta.passages else found

    def postings(self, term_id: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        start, end = self.indptr[term_id], self.indptr[term_id + 1]
        return self.doc_ordinals[start:end], self.impacts[start:end]

    def ordinals(self, doc_id: str) -> list[int]:
        """The row of a document, or all rows of one that was cut into passages; a passage's own id is known too.
        Raises `InputError` for an unknown id."""
        if self.meta.passages:  # a document first: its id may look like that of another one's passage
            parts = (self._find(passage_id(doc_id, number)) for number in itertools.count())
            if rows := list(itertools.takewhile(lambda row: row is not None, parts)):
                return [row for row in rows if row is not None]
        found = self._find(doc_id)
        if found is None:
            raise InputError(f"there is no document {doc_id!r} in this index of {self.n_documents} documents")
        return [found]

    def holds(self, doc_id: str) -> bool:
        return self._find(passage_id(doc_id, 0) if self.meta.passages else doc_id) is not None

    def _find(self, doc_id: str) -> int | None:
        """Binary search over the ids in order."""
        key = doc_id.encode("utf-8", "replace")
        rank = bisect.bisect_left(range(self.n_documents), key, key=lambda at: self._id_at(at).encode())
        found = rank < self.n_documents and self._id_at(rank).encode() == key
        return int(self.ordinal_of_rank[rank]) if found else None

    def _id_at(self, rank: int) -> str:
        return self.doc_ids[int(self.ordinal_of_rank[rank])]


def open_index(path: Path, checksums: bool = True) -> Index:
    open_artifact(path, KIND, FORMAT_VERSION, checksums)
    meta = IndexMeta(**json.loads((path / "meta.json").read_text(encoding="utf-8")))
    return Index(
        doc_ids=StringTable(path, "doc_ids"),
        titles=StringTable(path, "titles"),
        vocabulary=Vocabulary(StringTable(path, "terms")),
        indptr=open_array(path / "indptr.npy"),
        doc_ordinals=open_array(path / "doc_ordinals.npy"),
        impacts=open_array(path / "impacts.npy"),
        list_max=open_array(path / "list_max.npy"),
        tie_rank=open_array(path / "tie_rank.npy"),
        meta=meta,
    )


def write_meta(folder: Path, meta: IndexMeta) -> None:
    write_json(folder / "meta.json", asdict(meta))
