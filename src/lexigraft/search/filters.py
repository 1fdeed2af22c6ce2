"""Conditions on metadata, to which rows may be found.

Numbers compare as numbers, dates as dates, texts by their characters. What has no value fulfils no test, and so the
denial of any, != among them. What a key is follows from all living documents (`index/metadata.py`); which documents
fulfil a condition is then found segment by segment, each with its own table of values.
"""

import bisect
import math
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.dates import Period, read_period
from lexigraft.index.metadata import DATE, LIST, NUMBER, Column, Metadata, SegmentMetadata
from lexigraft.index.metadata_values import NO_DATE, Flags, as_text
from lexigraft.search.conditions import AllOf, AnyOf, Compare, Condition, Has, In, Literal, Node, Not
from lexigraft.search.searching import Allowed

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_KINDS = {NUMBER: "a number", DATE: "a date", LIST: "a list"}


def filter_masks(metadata: Metadata, conditions: Sequence[Condition]) -> list[Allowed]:
    """One mask a segment, of one byte a row: 1 where its document fulfils all conditions. Deleted rows may have
    either."""
    masks = []
    for segment in metadata.segments:
        fulfilled = np.ones(segment.n_documents, bool)
        for condition in conditions:
            fulfilled &= _Fulfilling(metadata, segment, condition).of(condition.root)
        masks.append(fulfilled[segment.places].astype(np.uint8))
    return masks


class _Fulfilling:
    """Which documents of a segment fulfil the parts of one condition, in `doc_id` order."""

    def __init__(self, metadata: Metadata, segment: SegmentMetadata, condition: Condition) -> None:
        self._metadata, self._segment, self._condition = metadata, segment, condition

    def of(self, node: Node) -> Flags:
        match node:
            case AllOf(parts):
                return reduce(np.logical_and, map(self.of, parts))
            case AnyOf(parts):
                return reduce(np.logical_or, map(self.of, parts))
            case Not(part):
                return ~self.of(part)
            case In(key, values, at):
                column = self._column(key, at, scalar=True)
                return reduce(np.logical_or, (self._compared(column, "=", value) for value in values))
            case Has(key, value, at):
                return self._has(self._column(key, at, scalar=False), value)
            case Compare(key, sign, value, at):
                column = self._column(key, at, scalar=True)
                return ~self._compared(column, "=", value) if sign == "!=" else self._compared(column, sign, value)

    def _column(self, key: str, at: int, scalar: bool) -> Column:
        if key not in self._metadata.columns:
            present = ", ".join(sorted(self._metadata.columns))
            self._condition.wrong_at(at, f"the documents' metadata have no key {key!r}; present: {present}")
        column = self._metadata.columns[key]
        if scalar and column.kind == LIST:
            self._condition.wrong_at(at, f"{key} is a list; ask for one of its elements: {key} has VALUE")
        if not scalar and column.kind != LIST:
            kind = _KINDS.get(column.kind, "text")
            self._condition.wrong_at(at, f"{key} is {kind} and no list; ask for it by = or in")
        return column

    def _compared(self, column: Column, sign: str, value: Literal) -> Flags:
        if column.kind == NUMBER:
            return np.asarray(_COMPARE[sign](self._segment.numbers(column.key), self._number(column.key, value)), bool)
        if column.kind == DATE:
            return _compare_dates(self._segment.dates(column.key), sign, self._period(column.key, value))
        if sign != "=" and not value.quoted and read_number(value.text) is not None:
            problem = f"{column.key} is text, and {value.text} is a number; to compare by characters, put it in quotes"
            self._condition.wrong_at(value.at, problem)
        return self._compare_texts(column.key, sign, value.text)

    def _has(self, column: Column, value: Literal) -> Flags:
        text = as_text(self._number(column.key, value)) if column.of == NUMBER else value.text
        found = self._compare_texts(column.key, "=", text)  # a single value is a list of one
        if (values := self._segment.values(column.key)) is not None and len(values.elements):
            low, high = _equal(values.table, text)
            places = np.flatnonzero((values.elements >= low) & (values.elements < high))
            found[np.searchsorted(values.indptr, places, side="right") - 1] = True
        return found

    def _compare_texts(self, key: str, sign: str, text: str) -> Flags:
        values = self._segment.values(key)
        if values is None:
            return np.zeros(self._segment.n_documents, bool)
        low, high = _equal(values.table, text)
        smallest, end = {
            "=": (low, high), "<": (0, low), "<=": (0, high), ">": (high, len(values.table)),
            ">=": (low, len(values.table)),
        }[sign]  # fmt: skip
        return np.asarray((values.codes >= smallest) & (values.codes < end), bool)

    def _number(self, key: str, value: Literal) -> float:
        number = read_number(value.text)
        if number is None:
            self._condition.wrong_at(
                value.at, f"{key} is a number in all documents, and {value.text!r} is none: give one, such as 2021"
            )
        return number

    def _period(self, key: str, value: Literal) -> Period:
        period = read_period(value.text)
        if period is None:
            self._condition.wrong_at(
                value.at, f"{key} is a date in all documents, and {value.text!r} is none: give one, such as 2024-03-01"
            )
        return period


def read_number(text: str) -> float | None:
    """The finite number that a text is; None where it is none."""
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return None


def _compare_dates(moments: NDArray[np.int64], sign: str, period: Period) -> Flags:
    """A moment is equal to a period within it, larger after its end, smaller before its beginning."""
    (low, high), first, last = period, NO_DATE + 1, np.iinfo(np.int64).max
    smallest, end = {
        "=": (low, high), "<": (first, low), "<=": (first, high), ">": (high, last), ">=": (low, last),
    }[sign]  # fmt: skip
    return np.asarray((moments >= smallest) & (moments < end), bool)


def _equal(values: Sequence[str], text: str) -> tuple[int, int]:
    """Where the places of values begin that are not smaller than `text`, and of those that are larger."""
    low = bisect.bisect_left(values, text)
    return low, bisect.bisect_right(values, text, low)
