"""Metadata of an index's documents on disk, a column a key: the files of a `metadata` artifact, read by memory map.

Columns are in `doc_id` order, so that one artifact serves every index of the same documents, whatever its pruning and
the order of its rows; the passages of a document share its values.

columns.json           the keys: their kind (number or text), and how many documents have one
N.npy                  of numbers: float64 [documents], not a number where there is none
                       of texts: int32 [documents], the place of each value in its table, -1 where there is none
N.utf8 N.offsets.npy   of texts: the distinct values in order, so that places compare as the values do
"""

import hashlib
import json
import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.types import document_of
from lexigraft.index.inverted import Index

KIND, FORMAT_VERSION = "metadata", 2  # format 1 knew its documents by a sample of their ids
NUMBER, TEXT = "number", "text"
LARGEST_WHOLE = 2**53  # integers beyond are not all told apart by float64: they stay texts, and with them the column
IDS_AT_ONCE = 1 << 16

Value = str | int | float

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Column:
    key: str
    kind: str
    n_documents: int  # that have a value
    place: int  # its number in the names of files


@dataclass(frozen=True)
class Metadata:
    """Opened by `open_metadata`, for one index."""

    folder: Path
    columns: Mapping[str, Column]
    n_documents: int

    def numbers(self, key: str) -> NDArray[np.float64]:
        """The values of a column of numbers, by document in `doc_id` order."""
        return open_array(self.folder / f"{self.columns[key].place}.npy")

    def texts(self, key: str) -> tuple[NDArray[np.int32], StringTable]:
        """(places, values) of a column of texts."""
        place = str(self.columns[key].place)
        return open_array(self.folder / f"{place}.npy"), StringTable(self.folder, place)


def documents_in_order(index: Index) -> list[str]:
    """The ids of an index's documents, of passages those they were cut from, in `doc_id` order."""
    if index.meta.passages:
        return sorted({document_of(row_id) for row_id in index.doc_ids})
    return index.doc_ids.take(index.ordinal_of_rank)


def document_places(index: Index) -> NDArray[np.int32]:
    """For each row of an index, the place of its document in `doc_id` order."""
    return index.document_rank if index.meta.passages else index.tie_rank


class ColumnsBuilder:
    """Takes documents' values in any order, and writes the columns. In memory: 4 bytes a document and key, the distinct
    values, and the ids."""

    def __init__(self, doc_ids: list[str]) -> None:
        self._place_of = {doc_id: place for place, doc_id in enumerate(doc_ids)}
        self._digest = _digest(doc_ids)
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._values: dict[str, dict[Value, int]] = {}
        self._seen = np.zeros(len(doc_ids), bool)
        self.n_unknown = 0  # documents that the index does not have

    def add(self, records: Iterable[tuple[str, Mapping[str, Value]]], keep_first: bool = False) -> None:
        """Raises for a key that conditions could not name and, unless the first is to be kept, for a document that
        comes twice."""
        for doc_id, values in records:
            place = self._place_of.get(doc_id)
            if place is None:
                self.n_unknown += 1
                continue
            if self._seen[place]:
                if keep_first:
                    continue
                raise InputError(f"document {doc_id!r} has metadata twice; give each document's in one line")
            self._seen[place] = True
            for key, value in values.items():
                known = self._values.setdefault(key, {})
                if key not in self._codes:
                    check_key(key, doc_id)
                    self._codes[key] = np.full(len(self._place_of), -1, np.int32)
                self._codes[key][place] = known.setdefault(value, len(known))

    def write(self, folder: Path) -> list[Column]:
        """Write every column; raises where no document has any value."""
        if not self._codes:
            raise InputError("no document of the index has metadata here; there is nothing to filter by")
        columns = [self._write_column(folder, key, place) for place, key in enumerate(self._codes)]
        facts = {"n_documents": len(self._place_of), "documents": self._digest}
        write_json(folder / "columns.json", {**facts, "columns": [asdict(column) for column in columns]})
        return columns

    def _write_column(self, folder: Path, key: str, place: int) -> Column:
        codes, values = self._codes[key], list(self._values[key])
        present = codes >= 0
        no_number = next((value for value in values if not _is_number(value)), None)
        if no_number is None:
            numbers = np.array([float(value) for value in values])
            np.save(folder / f"{place}.npy", np.where(present, numbers[codes], np.nan))
            return Column(key, NUMBER, int(present.sum()), place)
        if any(_is_number(value) for value in values):
            message = "%s is kept as text and compares as text, because %.60r is not a number, or not told apart as one"
            log.warning(message, key, no_number)
        texts = [_text(value).encode("utf-8", "replace").decode() for value in values]  # as a table holds them
        table = sorted(set(texts))
        place_of = {text: at for at, text in enumerate(table)}
        remap = np.array([place_of[text] for text in texts], np.int32)
        np.save(folder / f"{place}.npy", np.where(present, remap[codes], np.int32(-1)))
        write_strings(folder, str(place), table)
        return Column(key, TEXT, int(present.sum()), place)


def check_key(key: str, doc_id: str) -> None:
    if not key or key != key.strip() or any(mark in key for mark in "=!<>"):
        raise InputError(
            f"document {doc_id!r}: the key {key!r} cannot be named in a condition: it must not be empty, begin or end "
            "with a space, or hold one of = ! < >"
        )


def _is_number(value: Value) -> bool:
    """Whether float64 holds it as it is."""
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE
    return isinstance(value, float) and math.isfinite(value)


def _text(value: Value) -> str:
    """Equal numbers are one text, whichever of 1 and 1.0 came first."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def open_metadata(path: Path, index: Index) -> Metadata:
    """The metadata at `path`; raises where they were made for other documents than those of `index`."""
    open_artifact(path, KIND, FORMAT_VERSION)
    facts = json.loads((path / "columns.json").read_text(encoding="utf-8"))
    columns = [Column(**column) for column in facts["columns"]]
    doc_ids = documents_in_order(index)
    n_documents = len(doc_ids)
    if facts["n_documents"] != n_documents or facts["documents"] != _digest(doc_ids):
        raise ArtifactError(
            f"{path} was made for another index: it is of {facts['n_documents']} documents, the index of "
            f"{n_documents}, or their ids differ; make it again: lexigraft index metadata"
        )
    return Metadata(path, {column.key: column for column in columns}, n_documents)


def _digest(doc_ids: list[str]) -> str:
    """Of all ids in their order: a sample would not tell an index from one of which some documents were exchanged."""
    digest = hashlib.sha256()
    for start in range(0, len(doc_ids), IDS_AT_ONCE):
        digest.update(json.dumps(doc_ids[start : start + IDS_AT_ONCE]).encode())
    return digest.hexdigest()
