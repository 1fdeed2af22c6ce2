"""Writes metadata: documents' values in any order become the columns that `index/metadata.py` reads."""

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import write_strings
from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.errors import InputError
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.metadata import (
    DOC_IDS,
    NUMBER,
    TEXT,
    Column,
    Metadata,
    Value,
    digest_of,
    documents_in_order,
)

LARGEST_WHOLE = 2**53  # integers beyond are not all told apart by float64: they stay texts, and with them the column

log = logging.getLogger(__name__)


def write_metadata(
    out: Path,
    manifest: Manifest,
    index: Index | LiveIndex,
    records: Iterable[tuple[str, Mapping[str, Value]]],
    keep_first: bool = False,
    former: Metadata | None = None,
) -> list[Column]:
    """Write the metadata of the documents of `index`, those that `records` have, as the artifact `out`; says how many
    records are of other documents. `keep_first`: of a document that comes twice the first counts; it is an error
    otherwise. `former`: columns that stay, but for those whose keys come anew. Returns the columns."""
    builder = ColumnsBuilder(documents_in_order(index))
    with write_artifact(out, manifest) as folder:
        builder.add(records, keep_first)
        if former is not None and builder.keys:
            builder.keep(former)
        if builder.n_unknown:
            log.warning("%d documents with metadata are not in the index and are left out", builder.n_unknown)
        return builder.write(folder)


class ColumnsBuilder:
    """Takes documents' values in any order, and writes the columns. In memory: 4 bytes a document and key, the distinct
    values, and the ids."""

    def __init__(self, doc_ids: list[str]) -> None:
        self._place_of = {doc_id: place for place, doc_id in enumerate(doc_ids)}  # in order, as the ids are
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
                if key not in self._codes:
                    check_key(key, doc_id)
                self._set(key, place, value)

    @property
    def keys(self) -> list[str]:
        """Those that some document has a value of, in the order in which they came."""
        return list(self._codes)

    def keep(self, former: Metadata) -> None:
        """Take over the columns of former metadata, of the documents that are still there, and say so. A key that has
        come anew is replaced as a whole: two sources in one column would be a mixture that nobody asked for."""
        for key, column in former.columns.items():
            if key in self._codes:
                now = int((self._codes[key] >= 0).sum())
                log.info("%s is replaced: %d documents had it before, %d do now", key, column.n_documents, now)
                continue
            for doc_id, value in former.values(key):
                if (place := self._place_of.get(doc_id)) is not None:
                    self._set(key, place, value)
            if key in self._codes:
                log.info("%s is kept from before", key)
            else:
                log.warning("%s is dropped: no document that had it is in the index now", key)

    def _set(self, key: str, place: int, value: Value) -> None:
        known = self._values.setdefault(key, {})
        if key not in self._codes:
            self._codes[key] = np.full(len(self._place_of), -1, np.int32)
        self._codes[key][place] = known.setdefault(value, len(known))

    def write(self, folder: Path) -> list[Column]:
        """Write every column; raises where no document has any value."""
        if not self._codes:
            raise InputError("no document of the index has metadata here; there is nothing to filter by")
        columns = [self._write_column(folder, key, place) for place, key in enumerate(self._codes)]
        facts = {"n_documents": len(self._place_of), "documents": digest_of(list(self._place_of))}
        write_strings(folder, DOC_IDS, self._place_of)
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
