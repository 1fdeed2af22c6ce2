"""The metadata of the documents that an index finds: what their keys are, by all values of living documents, and what
each document has.

A key is one of numbers where all of its values are, one of dates where all are texts that are dates, one of lists where
a document has a list, else one of texts. So it does not matter over how many segments of a live index the documents are
spread, nor how they came there: the same documents with the same metadata fulfil the same conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.dates import written
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import document_of
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import LiveIndex
from lexigraft.index.live.state import REMEDY
from lexigraft.index.metadata_files import MetadataTable, digest_of, open_table
from lexigraft.index.metadata_values import LARGEST_WHOLE, NO_DATE, NONE, Flags, Scalar, Value, Values

NUMBER, DATE, TEXT, LIST = "number", "date", "text", "list"


@dataclass(frozen=True)
class Column:
    """What a key is in all living documents."""

    key: str
    kind: str
    n_documents: int  # that have a value; of lists, an element
    of: str = ""  # of lists: what their elements are, number or text
    source: str = ""  # the corpus or a file


@dataclass(frozen=True, eq=False)
class SegmentMetadata:
    """The documents of one index, in `doc_id` order, with their metadata; `allowed` are its living rows, None: all."""

    index: Index
    table: MetadataTable | None
    allowed: NDArray[np.uint8] | None = None

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """For each row of the index, the place of its document."""
        found = document_places(self.index)
        if self.table is not None and int(found.max(initial=-1)) + 1 != len(self.table.doc_ids):
            raise ArtifactError(
                f"the metadata of a segment are of {len(self.table.doc_ids)} documents, and the segment has others; "
                f"{REMEDY}"
            )
        return found

    @property
    def n_documents(self) -> int:
        return len(self.table.doc_ids) if self.table is not None else int(self.places.max(initial=-1)) + 1

    @cached_property
    def living(self) -> Flags | None:
        """Of every document; None where all live."""
        if self.allowed is None:
            return None
        found = np.zeros(self.n_documents, bool)
        found[self.places[self.allowed != 0]] = True
        return found

    def has_living(self, doc_ids: Sequence[str]) -> Flags:
        """Of each id, whether its document lives here."""
        here = documents_in_order(self.index)
        living = set(here if self.living is None else compress(here, self.living.tolist()))
        return np.fromiter((one in living for one in doc_ids), bool, len(doc_ids))

    def values(self, key: str) -> Values | None:
        """None where no document here has the key."""
        return None if self.table is None else self.table.values.get(key)

    def numbers(self, key: str) -> NDArray[np.float64]:
        """By document; not a number where it has none."""
        values = self.values(key)
        return self._looked_up(values, None if values is None else values.numbers, np.nan)

    def dates(self, key: str) -> NDArray[np.int64]:
        """The moments at which the documents' dates begin, `NO_DATE` where one has none."""
        values = self.values(key)
        return self._looked_up(values, None if values is None else values.moments, NO_DATE)

    def _looked_up(self, values: Values | None, of_table: NDArray[Any] | None, missing: Any) -> NDArray[Any]:
        if values is None or of_table is None:
            return np.full(self.n_documents, missing)
        return np.where(values.codes >= 0, of_table[values.codes], missing)

    def facts(self, key: str) -> "_Facts | None":
        """What the living documents have of a key; None where they have nothing."""
        values = self.values(key)
        if values is None:
            return None
        living, stored = (
            self.living,
            None if self.table is None or self.table.stored is None else self.table.stored[key],
        )
        if living is None and stored is not None:
            numbers, dates = stored.n_numbers == stored.n_values, stored.n_dates == stored.n_values
            return _Facts(stored.n_documents, stored.n_values > 0, numbers, dates, stored.has_lists, values, None)
        used = values.used(living)
        has_value, has_list = values.has_value(), values.has_list()
        if living is not None:
            has_value, has_list = has_value & living, has_list & living
        if not (has_value | has_list).any():
            return None
        numbers, dates = bool(values.is_number[used].all()), bool(values.is_date[used].all())
        return _Facts(int(has_value.sum()), bool(used.any()), numbers, dates, bool(has_list.any()), values, used)


@dataclass(frozen=True)
class _Facts:
    n_documents: int
    any_value: bool
    all_numbers: bool
    all_dates: bool
    any_list: bool
    values: Values
    used: Flags | None

    def names_a_day(self) -> bool:
        """Whether a date is more than a year; years alone may be any numbers."""
        table, places = self.values.table, range(len(self.values.table))
        return any("-" in table[place] for place in places if self.used is None or self.used[place])


@dataclass(frozen=True, eq=False)
class Metadata:
    """Of an index and all its segments."""

    segments: Sequence[SegmentMetadata]

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """By key, in the order in which they came."""
        keys = dict.fromkeys(key for one in self.segments if one.table is not None for key in one.table.values)
        found = ((key, self._decided(key)) for key in keys)
        return {key: column for key, column in found if column is not None}

    def _decided(self, key: str) -> Column | None:
        parts = [facts for segment in self.segments if (facts := segment.facts(key)) is not None]
        if not parts:
            return None
        of_numbers = all(part.all_numbers for part in parts)
        n_documents = sum(part.n_documents for part in parts)
        sources = (segment.table.sources.get(key, "") for segment in self.segments if segment.table is not None)
        source = next((one for one in sources if one), "")
        if any(part.any_list for part in parts):
            of = NUMBER if of_numbers and any(part.any_value for part in parts) else TEXT
            return Column(key, LIST, n_documents, of, source)
        if of_numbers:
            return Column(key, NUMBER, n_documents, "", source)
        is_date = all(part.all_dates for part in parts) and any(part.names_a_day() for part in parts)
        return Column(key, DATE if is_date else TEXT, n_documents, "", source)

    def segment_of(self, index: Index) -> SegmentMetadata:
        return next(segment for segment in self.segments if segment.index is index)

    def of_row(self, index: Index, ordinal: int) -> dict[str, Value]:
        """What the document of a row has, by key; a key that it has no value of is left out."""
        segment = self.segment_of(index)
        if segment.table is None:
            return {}
        place = int(segment.places[ordinal])
        found = ((key, _value(segment.values(key), column, place)) for key, column in self.columns.items())
        return {key: value for key, value in found if value is not None}


def _value(values: Values | None, column: Column, place: int) -> Value | None:
    if values is None:
        return None
    code = int(values.codes[place])
    if column.kind != LIST:
        return None if code == NONE else _shown(values, code, column.kind)
    codes = [code] if code != NONE else values.elements_of(place).tolist()
    return tuple(_shown(values, one, column.of) for one in codes) or None


def _shown(values: Values, code: int, kind: str) -> Scalar:
    """A value of the table, as one of a column of this kind."""
    if kind == NUMBER and values.numbers is not None:
        number = float(values.numbers[code])
        # not one that may be beyond the 64 bits that engines keep an integer in, and is not told apart anyway
        return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number
    if kind == DATE and values.moments is not None:
        return written(int(values.moments[code]))
    return values.table[code]


def documents_in_order(index: Index) -> list[str]:
    """The ids of an index's documents, in `doc_id` order; of passages the ids of the documents that they were cut
    from."""
    if index.meta.passages:
        return sorted({document_of(row_id) for row_id in index.doc_ids})
    return index.doc_ids.take(index.ordinal_of_rank)


def document_places(index: Index) -> NDArray[np.int32]:
    """For each row of an index, the place of its document in `doc_id` order."""
    return index.document_rank if index.meta.passages else index.tie_rank


def metadata_of_live(index: LiveIndex) -> Metadata | None:
    """What the living documents of a live index have; None where none has anything."""
    found = Metadata([SegmentMetadata(one.index, one.metadata, one.allowed) for one in index.segments])
    return found if found.columns else None


def open_metadata(path: Path, index: Index) -> Metadata:
    """The metadata at `path`, which lie beside a plain index. Raises where they were made for other documents than
    those of `index`."""
    table, doc_ids = open_table(path), documents_in_order(index)
    if table.digest != digest_of(doc_ids):
        raise ArtifactError(
            f"{path} was made for another index: it is of {len(table.doc_ids)} documents, the index of {len(doc_ids)}, "
            "or their ids differ; make it again: lexigraft index metadata"
        )
    return Metadata([SegmentMetadata(index, table)])
