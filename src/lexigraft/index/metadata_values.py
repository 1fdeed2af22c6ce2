"""The values that documents have of one key, as they were given: single ones, lists, or some of each.

Nothing is decided here of what they are together, a column of numbers, dates, texts or lists: that follows from all
values of the documents that are searched, of which these may be a part. So a value stays what it was: 3 is not "3",
and "2024-03" is not the first moment of that month.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import taken
from lexigraft.core.dates import read_period

Scalar = str | int | float
Value = Scalar | tuple[Scalar, ...]
Flags = NDArray[np.bool_]

LARGEST_WHOLE = 2**53  # integers beyond are not all told apart by float64: they stay texts, and with them the column
NONE = -1
NO_DATE = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Values:
    """Of every document the place of its value in the table of distinct ones, or those of its list's elements.

    The table has texts in order, a number before the text that reads like it."""

    codes: NDArray[np.int32]  # by document; NONE where it has no single value
    lengths: NDArray[np.int32] | None  # of lists, by document; NONE where it has none; None where no document has one
    elements: NDArray[np.int32]  # of all lists, document by document
    table: Sequence[str]
    numbers: NDArray[np.float64] | None  # of the table, not a number where it is none; None where all are none
    moments: NDArray[np.int64] | None  # where dates of the table begin, NO_DATE where it is none; None where all are

    @property
    def is_number(self) -> Flags:
        """Of every value of the table."""
        return np.zeros(len(self.table), bool) if self.numbers is None else ~np.isnan(self.numbers)

    @property
    def is_date(self) -> Flags:
        """Of every value of the table; a year alone is one, too."""
        return np.zeros(len(self.table), bool) if self.moments is None else self.moments != NO_DATE

    def has_value(self) -> Flags:
        """Of every document; an empty list is none."""
        found: Flags = self.codes >= 0
        return found if self.lengths is None else found | (self.lengths > 0)

    def has_list(self) -> Flags:
        """Of every document; an empty list is one."""
        return np.zeros(len(self.codes), bool) if self.lengths is None else self.lengths >= 0

    def is_said(self) -> Flags:
        """Of every document, whether anything is said of it, be it an empty list."""
        return self.has_value() | self.has_list()

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Where the elements of each document begin, and where the last end."""
        lengths = np.zeros(len(self.codes), np.int32) if self.lengths is None else np.maximum(self.lengths, 0)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])

    def elements_of(self, document: int) -> NDArray[np.int32]:
        return self.elements[self.indptr[document] : self.indptr[document + 1]]

    def owners(self) -> NDArray[np.int64]:
        """The document of every element."""
        return np.repeat(np.arange(len(self.codes)), np.diff(self.indptr))

    def used(self, living: Flags | None) -> Flags:
        """Which of the table some living document has; where all live, all."""
        if living is None:
            return np.ones(len(self.table), bool)
        found = np.zeros(len(self.table), bool)
        found[self.codes[living & (self.codes >= 0)]] = True
        found[self.elements[living[self.owners()]]] = True
        return found


class Part(NamedTuple):
    """Documents whose values are taken over, and which they are afterwards."""

    values: Values
    documents: NDArray[np.int64]
    afterwards: NDArray[np.int64]


def joined(parts: Sequence[Part], n_documents: int) -> Values:
    """The values of documents of several parts as those of one whole; no document may come twice."""
    if len(parts) == 1 and len(parts[0].documents) == int(parts[0].values.is_said().sum()):
        return _arranged(*parts[0], n_documents)
    taken_over = []
    for part in parts:
        chosen = np.zeros(len(part.values.codes), bool)
        chosen[part.documents] = True
        taken_over.append((part, chosen, _entries(part.values, part.values.used(chosen))))
    table = sorted({entry for _, _, entries in taken_over for entry in entries.values()})
    place_of = {entry: place for place, entry in enumerate(table)}
    codes, lengths = np.full(n_documents, NONE, np.int32), np.full(n_documents, NONE, np.int32)
    numbers, moments = np.full(len(table), np.nan), np.full(len(table), NO_DATE)
    elements, owners = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for (values, documents, afterwards), chosen, entries in taken_over:
        places = np.full(len(values.table) + 1, NONE, np.int32)  # the last is where NONE points
        for before, entry in entries.items():
            places[before] = place_of[entry]
        kept = np.fromiter(entries, np.int64, len(entries))
        for whole, own in ((numbers, values.numbers), (moments, values.moments)):
            if own is not None:
                whole[places[kept]] = own[kept]
        codes[afterwards] = places[values.codes[documents]]
        if values.lengths is not None:
            lengths[afterwards] = values.lengths[documents]
            at, of = np.full(len(values.codes), NONE, np.int64), values.owners()
            at[documents] = afterwards
            elements.append(places[values.elements[chosen[of]]])
            owners.append(at[of[chosen[of]]])
    order = np.argsort(np.concatenate(owners), kind="stable")
    return Values(
        codes,
        lengths if (lengths >= 0).any() else None,
        np.concatenate(elements)[order],
        [text for text, _ in table],
        None if np.isnan(numbers).all() else numbers,
        None if (moments == NO_DATE).all() else moments,
    )


def _arranged(values: Values, documents: NDArray[np.int64], afterwards: NDArray[np.int64], n_documents: int) -> Values:
    """All documents of one part that have something, in another order: the table stays as it is."""
    codes, lengths = np.full(n_documents, NONE, np.int32), None
    codes[afterwards] = values.codes[documents]
    elements = values.elements
    if values.lengths is not None:
        lengths = np.full(n_documents, NONE, np.int32)
        lengths[afterwards] = values.lengths[documents]
        at = np.empty(len(values.codes), np.int64)
        at[documents] = afterwards
        elements = elements[np.argsort(at[values.owners()], kind="stable")]
    return Values(codes, lengths, elements, values.table, values.numbers, values.moments)


def _entries(values: Values, used: Flags) -> dict[int, tuple[str, bool]]:
    """Of the places of the table that are used: the text, and whether it is no number."""
    places, is_text = np.flatnonzero(used), ~values.is_number
    return dict(
        zip(places.tolist(), zip(taken(values.table, places), is_text[places].tolist(), strict=True), strict=True)
    )


class GivenValues:
    """Takes the values of one key, document by document as they are numbered. In memory: 4 bytes a document, 12 more
    where some have lists, 4 an element, and the distinct values."""

    def __init__(self) -> None:
        self._codes, self._elements = array("i"), array("i")
        self._lengths, self._starts = array("i"), array("q")  # of lists; the longer arrays are filled as far as needed
        self._known: dict[Scalar, int] = {}  # the number of a value among the distinct ones
        self.n_characters = 0  # of the distinct texts together

    def set(self, document: int, value: Value) -> None:
        """To be called once for a document."""
        if not isinstance(value, tuple):
            _put(self._codes, document, self._code(value))
            return
        _put(self._starts, document, len(self._elements))
        _put(self._lengths, document, len(value))
        self._elements.extend(map(self._code, value))

    def _code(self, value: Scalar) -> int:
        if isinstance(value, int) and not is_number(value):
            value = str(value)  # and not taken for an equal float, which is a number
        code = self._known.get(value)
        if code is None:
            code = self._known[value] = len(self._known)
            self.n_characters += len(value) if isinstance(value, str) else 0
        return code

    def values(self, n_documents: int) -> Values:
        """What was given, of documents with numbers below this one."""
        known = list(self._known)
        entries = [(as_text(one).encode("utf-8", "replace").decode(), not is_number(one)) for one in known]
        table = sorted(set(entries))
        place_of = {entry: place for place, entry in enumerate(table)}
        places = np.array([*(place_of[entry] for entry in entries), NONE], np.int32)  # the last is where NONE points
        numbers, moments = np.full(len(table), np.nan), np.full(len(table), NO_DATE)
        for place, value in zip(places.tolist(), known, strict=False):
            if is_number(value):
                numbers[place] = float(value)
            elif isinstance(value, str) and (period := read_period(value)) is not None:
                moments[place] = period.start
        codes, lengths = _filled(self._codes, n_documents), _filled(self._lengths, n_documents)
        owners = np.flatnonzero(lengths > 0)
        each = lengths[owners].astype(np.int64)
        at = np.repeat(np.asarray(self._starts)[owners] - (np.cumsum(each) - each), each) + np.arange(each.sum())
        return Values(
            places[codes], lengths if self._lengths else None, places[np.asarray(self._elements)[at]],
            [text for text, _ in table], None if np.isnan(numbers).all() else numbers,
            None if (moments == NO_DATE).all() else moments,
        )  # fmt: skip


def _put(numbers: "array[int]", at: int, number: int) -> None:
    """To be called with ever larger places."""
    if at > len(numbers):
        numbers.extend(repeat(NONE, at - len(numbers)))
    numbers.append(number)


def _filled(numbers: "array[int]", n_documents: int) -> NDArray[np.int32]:
    found = np.full(n_documents, NONE, np.int32)
    found[: len(numbers)] = numbers
    return found


def is_number(value: Scalar) -> bool:
    """Whether float64 holds it as it is."""
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE
    return isinstance(value, float) and math.isfinite(value)


def as_text(value: Scalar) -> str:
    """Equal numbers are one text, whichever of 1 and 1.0 came first."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
