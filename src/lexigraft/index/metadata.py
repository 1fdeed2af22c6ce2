"""Metadata of an index's documents on disk, a column a key: the files of a `metadata` artifact, read by memory map.

Columns are in `doc_id` order, so that one artifact serves every index of the same documents, whatever its pruning and
the order of its rows; the passages of a document share its values. A live index changes after its metadata were made:
its documents are found by id, and one that was added later has no metadata until they are made again.

columns.json           the keys: their kind (number, date, text or list), and how many documents have one
doc_ids.*              the ids of the documents, in order
N.npy                  of numbers: float64 [documents], not a number where there is none
                       of dates: int64 [documents], microseconds from 1970 on, `NO_DATE` where there is none
                       of texts: int32 [documents], the place of each value in its table, -1 where there is none
                       of lists: int32, the places of all elements, document by document
N.indptr.npy           of lists: int64 [documents + 1], where the elements of each document begin
N.utf8 N.offsets.npy   of texts and lists: the distinct values in order, so that places compare as the values do
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable
from lexigraft.core.artifact import open_artifact
from lexigraft.core.dates import written
from lexigraft.core.errors import ArtifactError
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import known_as, of_one_version, where_it_stands
from lexigraft.core.types import document_of
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.metadata_files import (
    DATE,
    LIST,
    NO_DATE,
    NUMBER,
    Column,
    open_columns,
    read_columns,
    validate_columns,
)

# Format 1 knew its documents by a sample of their ids, format 2 by the digest of all of them, format 3 has them; format
# 4 has dates and lists, which were texts before.
KIND, FORMAT_VERSION, READABLE = "metadata", 4, (2, 3, 4)
OF_CORPUS, OF_FILE = "corpus", "file"  # where a column comes from
DOC_IDS = "doc_ids"  # the name of their table
IDS_AT_ONCE = 1 << 16
ABSENT = -1  # the place of a document that metadata do not know

Scalar = str | int | float
Value = Scalar | tuple[Scalar, ...]


class Placed(NamedTuple):
    """The place of each row's document in the columns, and whether the index has exactly the documents that they do."""

    of: Index  # kept, so that no other one gets the number that it is known by
    places: NDArray[np.int32]
    exactly: bool


@dataclass(frozen=True)
class Metadata:
    """Opened by `open_metadata` for an index; serves every other index of the same documents as well. All files are
    mapped when it is opened: others may replace them later."""

    folder: Path
    columns: Mapping[str, Column]
    doc_ids: Sequence[str]  # in order
    digest: str  # of them
    arrays: Mapping[str, NDArray[np.generic]] = field(repr=False, compare=False, default_factory=dict)  # by file
    tables: Mapping[str, StringTable] = field(repr=False, compare=False, default_factory=dict)
    _placed: dict[int, Placed] = field(default_factory=dict, repr=False, compare=False)  # by the index's `id`

    @property
    def n_documents(self) -> int:
        return len(self.doc_ids)

    def numbers(self, key: str) -> NDArray[np.float64]:
        """The values of a column of numbers, by document in `doc_id` order."""
        return self._array(key)

    def texts(self, key: str) -> tuple[NDArray[np.int32], StringTable]:
        """(places, values) of a column of texts."""
        return self._array(key), self.tables[str(self.columns[key].place)]

    def dates(self, key: str) -> NDArray[np.int64]:
        """The moments of a column of dates, at which they begin."""
        return self._array(key)

    def lists(self, key: str) -> tuple[NDArray[np.int64], NDArray[np.int32], StringTable]:
        """(where each document's elements begin, their places, the distinct elements) of a column of lists."""
        return self._array(key, ".indptr"), *self.texts(key)

    def _array(self, key: str, part: str = "") -> NDArray[Any]:
        return self.arrays[f"{self.columns[key].place}{part}.npy"]

    def values(self, key: str) -> Iterator[tuple[str, Value]]:
        """(doc_id, value) of every document that has one."""
        kind = self.columns[key].kind
        if kind == NUMBER:
            numbers = self.numbers(key)
            for place in np.flatnonzero(~np.isnan(numbers)).tolist():
                yield self.doc_ids[place], float(numbers[place])
        elif kind == DATE:
            moments = self.dates(key)
            for place in np.flatnonzero(moments != NO_DATE).tolist():
                yield self.doc_ids[place], written(int(moments[place]))
        elif kind == LIST:
            indptr, elements, table = self.lists(key)
            of_number = self.columns[key].of == NUMBER
            for place in np.flatnonzero(np.diff(indptr)).tolist():
                texts = [table[at] for at in elements[indptr[place] : indptr[place + 1]].tolist()]
                yield self.doc_ids[place], tuple(map(float, texts)) if of_number else tuple(texts)
        else:
            places, table = self.texts(key)
            for place in np.flatnonzero(places >= 0).tolist():
                yield self.doc_ids[place], table[int(places[place])]

    def places_of(self, index: Index) -> NDArray[np.int32]:
        """For each row of an index, the place of its document in the columns; `ABSENT` where it is in none."""
        return self._placed_in(index).places

    def are_exactly_of(self, index: Index) -> bool:
        """Whether these are the metadata of all documents of an index and of no others."""
        return self._placed_in(index).exactly

    def _placed_in(self, index: Index) -> Placed:
        """Found once for each index: that goes through all ids."""
        if id(index) not in self._placed:
            exactly = is_of_documents(self.digest, self.n_documents, documents_in_order(index))
            places = document_places(index) if exactly else self._places_by_id(index)
            self._placed[id(index)] = Placed(index, places, exactly)
        return self._placed[id(index)]

    def _places_by_id(self, index: Index) -> NDArray[np.int32]:
        place_of = {doc_id: place for place, doc_id in enumerate(self.doc_ids)}
        names = map(document_of, index.doc_ids) if index.meta.passages else index.doc_ids
        return np.fromiter((place_of.get(name, ABSENT) for name in names), np.int32, index.n_documents)


def documents_in_order(index: Index | LiveIndex) -> list[str]:
    """The ids of an index's documents, of a live one those that live, in `doc_id` order; of passages the ids of the
    documents that they were cut from."""
    if isinstance(index, Index):
        if index.meta.passages:
            return sorted({document_of(row_id) for row_id in index.doc_ids})
        return index.doc_ids.take(index.ordinal_of_rank)
    if len(index.segments) == 1 and index.segments[0].allowed is None:
        return documents_in_order(index.segments[0].index)
    found: set[str] = set()
    for segment in index.segments:
        rows = np.arange(segment.index.n_documents) if segment.allowed is None else np.flatnonzero(segment.allowed)
        found.update(segment.index.names(rows.astype(np.int32)))
    return sorted(found)


def document_places(index: Index) -> NDArray[np.int32]:
    """For each row of an index, the place of its document in `doc_id` order."""
    return index.document_rank if index.meta.passages else index.tie_rank


def open_metadata(path: Path, index: Index | LiveIndex) -> Metadata:
    """The metadata at `path`. Raises where they were made for other documents than those of `index`; those of a live
    index may have changed since, and one of them must still be known."""
    metadata = former_metadata(path, index)
    if metadata is not None and _fits(metadata, index):
        return metadata
    n_documents = _n_documents(path)
    here = len(documents_in_order(index))
    raise ArtifactError(
        f"{path} was made for another index: it is of {n_documents} documents, the index of {here}, or their ids "
        "differ; make it again: lexigraft index metadata"
    )


@of_one_version
def _n_documents(path: Path) -> int:
    """Of how many documents the metadata at `path` are; says what is wrong with them where that is the reason."""
    open_artifact(path, KIND, READABLE)
    return read_columns(path).n_documents


def former_metadata(path: Path, index: Index | LiveIndex) -> Metadata | None:
    """The metadata at `path` whatever documents they are of, to be kept; None where there are none, or where it is not
    known of which documents they are. Raises for damaged ones."""
    return _open(path, index) if where_it_stands(path).exists() else None


@of_one_version
def _open(path: Path, index: Index | LiveIndex) -> Metadata | None:
    manifest = open_artifact(path, KIND, READABLE)
    facts = read_columns(path)
    has_ids = manifest.format_version > 2
    doc_ids = StringTable(path, DOC_IDS) if has_ids else _matching_ids(index, facts.documents, facts.n_documents)
    if doc_ids is None:
        return None
    arrays, tables = open_columns(path, facts.columns)
    found = Metadata(known_as(path), {one.key: one for one in facts.columns}, doc_ids, facts.documents, arrays, tables)
    validate_unless_known(path, manifest, True, lambda: validate_columns(path, doc_ids, facts, arrays, tables))
    return found


@of_one_version
def read_keys(path: Path) -> list[str]:
    """The keys of the metadata at `path`."""
    return [column.key for column in read_columns(path).columns]


def _matching_ids(index: Index | LiveIndex, digest: str, n_documents: int) -> list[str] | None:
    """The ids that metadata of format 2, which do not have them, were made for: those of all documents of the index, or
    of one of its segments, whose deleted rows are still there; None where they are of neither."""
    parts: list[Index | LiveIndex] = [index]
    if isinstance(index, LiveIndex):
        parts += [segment.index for segment in index.segments]
    for part in parts:
        doc_ids = documents_in_order(part)
        if is_of_documents(digest, n_documents, doc_ids):
            return doc_ids
    return None


def _fits(metadata: Metadata, index: Index | LiveIndex) -> bool:
    """Whether metadata are of exactly the documents of an index that never changes, or of some of a live one."""
    if isinstance(index, Index):
        return metadata.are_exactly_of(index)
    if is_plain(index):
        return all(metadata.are_exactly_of(segment.index) for segment in index.segments)
    for segment in index.segments:
        known = metadata.places_of(segment.index) != ABSENT
        if np.any(known if segment.allowed is None else known & (segment.allowed != 0)):
            return True
    return not index.n_documents  # nothing lives there, and nothing will be found


def is_plain(index: LiveIndex) -> bool:
    """Whether `LiveIndex.of_index` made it: states of live indexes are numbered from 1 on."""
    return index.generation == 0


def is_of_documents(digest: str, n_documents: int, doc_ids: list[str]) -> bool:
    """Whether so many documents with such a digest are these."""
    return n_documents == len(doc_ids) and digest == digest_of(doc_ids)


def digest_of(doc_ids: list[str]) -> str:
    """Of all ids in their order: a sample would not tell an index from one of which some documents were exchanged."""
    digest = hashlib.sha256()
    for start in range(0, len(doc_ids), IDS_AT_ONCE):
        digest.update(json.dumps(doc_ids[start : start + IDS_AT_ONCE]).encode())
    return digest.hexdigest()
