"""An inverted index in memory, its arrays mapped: postings of every term, by ranges of documents."""

import bisect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable
from lexigraft.core.compiled import compiled
from lexigraft.core.cut import DocumentCut
from lexigraft.core.encoder_description import ENCODER
from lexigraft.core.errors import InputError
from lexigraft.core.manifest import Manifest
from lexigraft.core.stored_record import COUNT, CUT, MANY, POSITIVE, one_of, whole
from lexigraft.core.types import Vocabulary, document_of, passage_id
from lexigraft.index.codec import RANGE
from lexigraft.index.stored_lists import StoredLists, decode_stored
from lexigraft.index.texts import StoredTexts


@dataclass(frozen=True)
class IndexMeta:
    n_documents: int
    n_terms: int
    n_postings: int
    scale: float
    keep: DocumentCut
    vocab_fingerprint: str
    query_encoder: Mapping[str, Any]
    passages: bool = False  # rows are passages "ID#n" of documents, whose scores are folded by maximum
    bits: int = 8  # of an impact
    range_size: int = RANGE  # documents a range
    reordered: bool = False  # rows are in an order of their own, not that of the vectors


OF_META = {
    "n_documents": COUNT,
    "n_terms": COUNT,
    "n_postings": MANY,
    "scale": POSITIVE,
    "keep": CUT,
    "query_encoder": ENCODER,
    "bits": one_of(8, 16, 24),
    "range_size": whole(1, RANGE),
}  # what meta.json may say


@dataclass(frozen=True)
class Index:
    """Postings of every term by ranges of documents; `impact * scale` approximates the weight. Documents have internal
    ordinals 0..n-1."""

    doc_ids: StringTable
    titles: StringTable
    vocabulary: Vocabulary
    entries: NDArray[np.uint32]
    stream: NDArray[np.uint16]
    range_starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    list_max: NDArray[np.uint32]
    tie_rank: NDArray[np.int32]
    meta: IndexMeta
    texts: StoredTexts | None = None  # where they are kept
    manifest: Manifest | None = None  # of the artifact that was opened
    own_lengths: NDArray[np.int64] | None = None  # how many hold each term themselves, where others lend them some

    @property
    def fingerprint(self) -> str:
        """Of the artifact that was opened; empty of an index that is none."""
        return "" if self.manifest is None else self.manifest.fingerprint

    @property
    def parents(self) -> Mapping[str, str]:
        """The fingerprints of what that artifact was made of."""
        return {} if self.manifest is None else self.manifest.parents

    @property
    def corpus(self) -> str:
        """The digest of its documents' collection, where a run noted it."""
        return "" if self.manifest is None else str(self.manifest.notes.get("corpus", ""))

    @property
    def n_documents(self) -> int:
        return self.meta.n_documents

    @property
    def n_terms(self) -> int:
        return self.meta.n_terms

    @property
    def document_frequency(self) -> NDArray[np.int64]:
        """How many documents hold each term themselves: its postings, but for those that were lent or told."""
        return self.lengths if self.own_lengths is None else self.own_lengths

    @cached_property
    def stored(self) -> StoredLists:
        """The lists, as kernels that decode them take them."""
        meta = self.meta
        return StoredLists(self.entries, self.stream, self.range_starts, meta.range_size, meta.n_documents, meta.bits)

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

    def postings(self, term_id: int) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """(documents, impacts) of a term, by document."""
        ordinals, impacts = np.empty(self.lengths[term_id], np.int32), np.empty(self.lengths[term_id], np.uint32)
        decode_term(self.stored, term_id, ordinals, impacts)
        return ordinals, impacts

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
        try:
            key = doc_id.encode()
        except UnicodeEncodeError:  # no id is like that: a table of strings holds UTF-8
            return None
        rank = bisect.bisect_left(range(self.n_documents), key, key=lambda at: self._id_at(at).encode())
        found = rank < self.n_documents and self._id_at(rank).encode() == key
        return int(self.ordinal_of_rank[rank]) if found else None

    def _id_at(self, rank: int) -> str:
        return self.doc_ids[int(self.ordinal_of_rank[rank])]


@compiled
def decode_term(stored: StoredLists, term_id: int, ordinals: NDArray[np.int32], impacts: NDArray[np.uint32]) -> None:
    """Fill `ordinals` and `impacts` with the postings of a term."""
    done = 0
    for number in range(len(stored.entries)):
        n = decode_stored(stored, number, term_id, ordinals[done:], impacts[done:])
        ordinals[done : done + n] += np.int32(number * stored.range_size)
        done += n
