"""Writes metadata: documents' values in any order become the columns that `index/metadata.py` reads."""

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.metadata import DOC_IDS, OF_CORPUS, Metadata, Value, digest_of, documents_in_order
from lexigraft.index.metadata_files import COLUMNS, Column
from lexigraft.index.metadata_values import GivenValues

log = logging.getLogger(__name__)


class Limit(NamedTuple):
    """What a column may hold: the characters of one value, and of all distinct ones together."""

    longest: float = math.inf
    together: float = math.inf


NO_LIMIT = Limit()


def write_metadata(
    out: Path,
    manifest: Manifest,
    index: Index | LiveIndex,
    records: Iterable[tuple[str, Mapping[str, Value]]],
    source: str = "",
    former: Metadata | None = None,
    limit: Limit = NO_LIMIT,
    required: bool = True,
) -> list[Column]:
    """Write the metadata of the documents of `index`, those that `records` have, as the artifact `out`; says how many
    records are of other documents. `source` is where they come from: of a document that comes twice in a corpus the
    first counts, as in the index; it is an error otherwise. `former`: columns that stay, but for those whose keys come
    anew. Columns beyond the `limit` are left out, with a warning. Where no document of the index has any record and one
    is `required`, nothing is written, and an error raised. Returns the columns."""
    builder = ColumnsBuilder(documents_in_order(index), limit)
    with write_artifact(out, manifest) as folder:
        builder.add(records, source)
        if former is not None and (builder.keys or not required):
            builder.keep(former)
        if builder.n_unknown:
            log.warning("%d documents with metadata are not in the index and are left out", builder.n_unknown)
        return builder.write(folder)


class ColumnsBuilder:
    """Takes documents' values in any order, and writes the columns. In memory: 4 bytes a document and key, and as many
    an element of a list, the distinct values, and the ids."""

    def __init__(self, doc_ids: list[str], limit: Limit = NO_LIMIT) -> None:
        self._place_of = {doc_id: place for place, doc_id in enumerate(doc_ids)}  # in order, as the ids are
        self._given: dict[str, GivenValues] = {}
        self._sources: dict[str, str] = {}
        self._limit, self._left_out = limit, set[str]()
        self._seen = np.zeros(len(doc_ids), bool)
        self.n_unknown = 0  # documents that the index does not have

    def add(self, records: Iterable[tuple[str, Mapping[str, Value]]], source: str = "") -> None:
        """Raises for a key that conditions could not name and, but in a corpus, for a document that comes twice."""
        for doc_id, values in records:
            place = self._place_of.get(doc_id)
            if place is None:
                self.n_unknown += 1
                continue
            if self._seen[place]:
                if source == OF_CORPUS:
                    continue
                raise InputError(f"document {doc_id!r} has metadata twice; give each document's in one line")
            self._seen[place] = True
            for key, value in values.items():
                if key not in self._given:
                    if key in self._left_out:
                        continue
                    check_key(key, doc_id)
                self._set(key, place, value, source)
                if self._is_too_much(key, value):
                    del self._given[key]
                    self._left_out.add(key)
                    log.warning("%s is not kept to filter by: its texts are too long", key)

    def _is_too_much(self, key: str, value: Value) -> bool:
        longest = len(value) if isinstance(value, str) else 0
        return longest > self._limit.longest or self._given[key].n_characters > self._limit.together

    @property
    def keys(self) -> list[str]:
        """Those that some document has a value of, in the order in which they came."""
        return list(self._given)

    def keep(self, former: Metadata) -> None:
        """Take over the columns of former metadata, of the documents that are still there, and say so. A key that has
        come anew is replaced as a whole: two sources in one column would be a mixture that nobody asked for."""
        for key, column in former.columns.items():
            if key in self._given:
                now = self._given[key].n_documents
                log.info("%s is replaced: %d documents had it before, %d do now", key, column.n_documents, now)
                continue
            for doc_id, value in former.values(key):
                if (place := self._place_of.get(doc_id)) is not None:
                    self._set(key, place, value, column.source)
            if key in self._given:
                log.info("%s is kept from before", key)
            else:
                log.warning("%s is dropped: no document that had it is in the index now", key)

    def join(self, parts: Iterable[Metadata]) -> None:
        """Take over the metadata of the parts that an index was merged of. Raises where a key has values of one kind in
        one part and of another in another: what they were before they had one is not known."""
        kinds: dict[str, tuple[str, Path]] = {}
        for part in parts:
            for key, column in part.columns.items():
                kind, first = kinds.setdefault(key, (column.kind, part.folder))
                if kind != column.kind:
                    raise InputError(
                        f"{key!r} is a {kind} in {first} and a {column.kind} in {part.folder}; merge without metadata "
                        "(--no-metadata), and make them of the documents: lexigraft index metadata"
                    )
                for doc_id, value in part.values(key):
                    self._set(key, self._place_of[doc_id], value, column.source)

    def _set(self, key: str, place: int, value: Value, source: str) -> None:
        if key not in self._given:
            self._given[key], self._sources[key] = GivenValues(len(self._place_of)), source
        self._given[key].set(place, value)

    def write(self, folder: Path) -> list[Column]:
        """Write every column; raises where no document has any value."""
        if not self._given:
            raise InputError("no document of the index has metadata here; there is nothing to filter by")
        columns = [
            replace(given.write(folder, key, place), source=self._sources[key])
            for place, (key, given) in enumerate(self._given.items())
        ]
        facts = {"n_documents": len(self._place_of), "documents": digest_of(list(self._place_of))}
        write_strings(folder, DOC_IDS, self._place_of)
        write_json(folder / COLUMNS, {**facts, "columns": [asdict(column) for column in columns]})
        return columns


def check_key(key: str, doc_id: str) -> None:
    if not key or key != key.strip() or any(mark in key for mark in "=!<>"):
        raise InputError(
            f"document {doc_id!r}: the key {key!r} cannot be named in a condition: it must not be empty, begin or end "
            "with a space, or hold one of = ! < >"
        )
