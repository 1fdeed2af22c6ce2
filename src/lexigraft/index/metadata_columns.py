"""Metadata as they are given, document by document in any order, become those of the documents of an index."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.core.artifact import Manifest
from lexigraft.core.bounds import MOST_KEYS
from lexigraft.core.errors import InputError
from lexigraft.core.stored_record import shortened
from lexigraft.index.inverted import Index
from lexigraft.index.metadata import TEXT, Column, Metadata, SegmentMetadata, documents_in_order
from lexigraft.index.metadata_files import OF_CORPUS, MetadataTable, write_table
from lexigraft.index.metadata_values import NONE, Flags, GivenValues, Part, Value, joined

SHOWN = 3  # of the keys that are left out

log = logging.getLogger(__name__)

Records = Iterable[tuple[str, Mapping[str, Value]]]


class Limit(NamedTuple):
    """What a column may hold: the characters of one value, and of all distinct ones together."""

    longest: float = math.inf
    together: float = math.inf


NO_LIMIT = Limit()


class GivenMetadata:
    """Takes what is known of documents. `source` is where it comes from: of a document that comes twice in a corpus the
    first counts, as in the index; it is an error otherwise. A key that conditions could not name is one, too; in a
    corpus, which is not made for them, it is left out with a warning, as are columns beyond the `limit`, and keys that
    come after the first `MOST_KEYS`."""

    def __init__(self, source: str = "", limit: Limit = NO_LIMIT) -> None:
        self._place_of: dict[str, int] = {}
        self._given: dict[str, GivenValues] = {}
        self._source, self._limit, self._left_out = source, limit, set[str]()
        self._beyond: list[str] = []  # some of the keys that came after the first `MOST_KEYS`

    def add_all(self, records: Records) -> "GivenMetadata":
        for doc_id, values in records:
            self.add(doc_id, values)
        return self

    def add(self, doc_id: str, values: Mapping[str, Value]) -> None:
        if doc_id in self._place_of:
            if self._source == OF_CORPUS:
                return
            raise InputError(f"document {doc_id!r} has metadata twice; give each document's in one line")
        place = self._place_of[doc_id] = len(self._place_of)
        for key, value in values.items():
            given = self._given.get(key)
            if given is None:
                if key in self._left_out or not self._may_be_kept(key, doc_id):
                    continue
                given = self._given[key] = GivenValues()
            given.set(place, value)
            longest = len(value) if isinstance(value, str) else 0
            if longest > self._limit.longest or given.n_characters > self._limit.together:
                del self._given[key]
                self._leave_out(key, "its texts are too long")

    def _may_be_kept(self, key: str, doc_id: str) -> bool:
        if len(self._given) + len(self._left_out) >= MOST_KEYS:
            self._beyond += [key] if len(self._beyond) < SHOWN and key not in self._beyond else []
            return False
        problem = wrong_key(key)
        if problem and self._source != OF_CORPUS:
            raise InputError(f"document {doc_id!r}: the key {key!r} {problem}")
        if problem:
            self._leave_out(repr(key), f"it {problem}")
            self._left_out.add(key)
        return not problem

    def _leave_out(self, key: str, why: str) -> None:
        self._left_out.add(key)
        log.warning("%s is not kept to filter by: %s", key, why)

    def table(self) -> MetadataTable:
        """All that was given."""
        if self._beyond:
            message = "only the first %d keys of metadata are kept to filter by, and not %s or any that came after them"
            log.warning(message, MOST_KEYS, ", ".join(map(shortened, self._beyond)))
        values = {key: given.values(len(self._place_of)) for key, given in self._given.items()}
        return MetadataTable(list(self._place_of), values, dict.fromkeys(values, self._source))


def wrong_key(key: str) -> str:
    """Why no condition can name a key; empty of one that can be named."""
    if key and key == key.strip() and not any(mark in key for mark in "=!<>"):
        return ""
    return "cannot be named in a condition: it must not be empty, begin or end with a space, or hold one of = ! < >"


class Living(NamedTuple):
    """Metadata, and of which documents they are taken; None: of all."""

    table: MetadataTable
    documents: Flags | None = None


def arranged(doc_ids: Sequence[str], parts: Sequence[Living]) -> MetadataTable:
    """The metadata of these documents, which are in `doc_id` order: of each document and key, what the first part says
    that says something. What is said of other documents is left out, and so are keys that nobody has then."""
    place_of = {doc_id: place for place, doc_id in enumerate(doc_ids)}
    places = [_places(part, place_of) for part in parts]
    values = {}
    for key in dict.fromkeys(key for part in parts for key in part.table.values):
        said, chosen = np.zeros(len(doc_ids), bool), []
        for part, afterwards in zip(parts, places, strict=True):
            if (own := part.table.values.get(key)) is not None:
                has = own.is_said() & (afterwards != NONE)
                has[has] = ~said[afterwards[has]]
                documents = np.flatnonzero(has)
                said[afterwards[documents]] = True
                chosen.append(Part(own, documents, afterwards[documents]))
        if said.any():
            values[key] = joined(chosen, len(doc_ids))
    sources = {key: source for part in reversed(parts) for key, source in part.table.sources.items() if source}
    return MetadataTable(doc_ids, values, sources)


def _places(part: Living, place_of: Mapping[str, int]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Of every document of a part, its place among those that are arranged; NONE where it is not among them."""
    found = np.fromiter((place_of.get(one, NONE) for one in part.table.doc_ids), np.int64, len(part.table.doc_ids))
    return found if part.documents is None else np.where(part.documents, found, NONE)


def write_metadata(
    out: Path,
    manifest: Manifest,
    index: Index,
    given: MetadataTable,
    former: MetadataTable | None = None,
    required: bool = True,
) -> list[Column]:
    """Write the metadata of the documents of a plain `index` as the artifact `out`; says how many are given of other
    documents. `former`: columns that stay, but for those whose keys come anew: two sources in one column would be a
    mixture that nobody asked for. Where no document of the index has any and some are `required`, nothing is written,
    and an error raised. Returns the columns."""
    doc_ids = documents_in_order(index)
    own = arranged(doc_ids, [Living(given)])
    if former is not None and (own.values or not required):
        own = _with_former(doc_ids, own, former)
    if n_unknown := len(set(given.doc_ids).difference(doc_ids)):
        warn_of_unknown(n_unknown)
    if not own.values:
        raise nothing_to_filter_by()
    write_table(out, manifest, own)
    found = Metadata([SegmentMetadata(index, own)])
    warn_of_texts(found)
    return list(found.columns.values())


def _with_former(doc_ids: Sequence[str], own: MetadataTable, former: MetadataTable) -> MetadataTable:
    kept = {key: values for key, values in former.values.items() if key not in own.values}
    both = arranged(doc_ids, [Living(own), Living(replace(former, values=kept))])
    for key, values in former.values.items():
        if key in own.values:
            before, now = int(values.has_value().sum()), int(own.values[key].has_value().sum())
            log.info("%s is replaced: %d documents had it before, %d do now", key, before, now)
        elif key in both.values:
            log.info("%s is kept from before", key)
        else:
            log.warning("%s is dropped: no document that had it is in the index now", key)
    return both


def warn_of_unknown(n_documents: int) -> None:
    log.warning("%d documents with metadata are not in the index and are left out", n_documents)


def nothing_to_filter_by() -> InputError:
    return InputError("no document of the index has metadata here; there is nothing to filter by")


def warn_of_texts(metadata: Metadata) -> None:
    """Say which keys have numbers that compare as texts, because not all values are numbers."""
    for key, column in metadata.columns.items():
        parts = [values for segment in metadata.segments if (values := segment.values(key)) is not None]
        if column.kind != TEXT or not any(values.numbers is not None for values in parts):
            continue
        others = (values.table[int(at)] for values in parts for at in np.flatnonzero(~values.is_number)[:1])
        if (other := next(others, None)) is not None:
            message = "%s is kept as text and compares as text, because %.60r is not a number, or not told apart as one"
            log.warning(message, key, other)
