"""Conditions on metadata in a form that every engine can be told: what a text compares with is decided here, by the
kind that a key has, and adapters map a handful of tests.

Two-valued, as in a local search: what has no value fulfils no test, and so the denial of any.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lexigraft.core.dates import read_period
from lexigraft.index.metadata import DATE, LIST, NUMBER
from lexigraft.index.metadata_values import as_text
from lexigraft.search.conditions import AllOf as AllParts
from lexigraft.search.conditions import AnyOf as AnyParts
from lexigraft.search.conditions import Compare, Condition, Has, In, Literal, Node
from lexigraft.search.conditions import Not as Denied
from lexigraft.search.filters import read_number


class InRange(NamedTuple):
    """A number, or the microseconds of a date from 1970 on: at least `low` and below `high`, or with them or without
    as the flags say; None is no bound."""

    key: str
    low: float | None
    high: float | None
    with_low: bool = True
    with_high: bool = False


class TextIs(NamedTuple):
    """A text compared by its characters (code points): `sign` is one of = < <= > >=."""

    key: str
    sign: str
    text: str


class HoldsElement(NamedTuple):
    """One of a list's elements is this text; numbers are written as texts."""

    key: str
    text: str


class Not(NamedTuple):
    part: "Test"


class AllOf(NamedTuple):
    parts: tuple["Test", ...]


class AnyOf(NamedTuple):
    parts: tuple["Test", ...]


Test = InRange | TextIs | HoldsElement | Not | AllOf | AnyOf


def as_test(conditions: Sequence[Condition], kinds: Mapping[str, str]) -> Test | None:
    """All conditions as one test; None where there are none. A key that is not known, or a value of another kind, is
    an error that says where it stands."""
    parts = tuple(_Reading(condition, kinds).of(condition.root) for condition in conditions)
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else AllOf(parts)


class _Reading:
    def __init__(self, condition: Condition, kinds: Mapping[str, str]) -> None:
        self._condition, self._kinds = condition, kinds

    def of(self, node: Node) -> Test:
        match node:
            case AllParts(parts):
                return AllOf(tuple(map(self.of, parts)))
            case AnyParts(parts):
                return AnyOf(tuple(map(self.of, parts)))
            case Denied(part):
                return Not(self.of(part))
            case In(key, values, at):
                return AnyOf(tuple(self._compared(key, "=", value, at) for value in values))
            case Has(key, value, at):
                self._kind(key, at, is_list=True)
                number = read_number(value.text)
                return HoldsElement(key, value.text if number is None or value.quoted else as_text(number))
            case Compare(key, "!=", value, at):
                return Not(self._compared(key, "=", value, at))
            case Compare(key, sign, value, at):
                return self._compared(key, sign, value, at)
        raise AssertionError(node)

    def _kind(self, key: str, at: int, is_list: bool) -> str:
        kind = self._kinds.get(key)
        if kind is None:
            present = ", ".join(sorted(self._kinds)) or "none"
            self._condition.wrong_at(at, f"the documents' metadata have no key {key!r}; present: {present}")
        if is_list != (kind == LIST):
            wanted = f"{key} is no list; ask for it by = or in" if is_list else f"{key} is a list; ask: {key} has VALUE"
            self._condition.wrong_at(at, wanted)
        return kind

    def _compared(self, key: str, sign: str, value: Literal, at: int) -> Test:
        kind = self._kind(key, at, is_list=False)
        if kind == NUMBER:
            number = read_number(value.text)
            if number is None:
                self._condition.wrong_at(value.at, f"{key} is a number, and {value.text!r} is none: give one")
            return _numbers(key, sign, number)
        if kind == DATE:
            period = read_period(value.text)
            if period is None:
                self._condition.wrong_at(value.at, f"{key} is a date, and {value.text!r} is none: give one")
            low, high = period
            bounds = {"=": (low, high), "<": (None, low), "<=": (None, high), ">": (high, None), ">=": (low, None)}
            return InRange(key, *bounds[sign])
        if sign != "=" and not value.quoted and read_number(value.text) is not None:
            problem = f"{key} is text, and {value.text} is a number; to compare by characters, put it in quotes"
            self._condition.wrong_at(value.at, problem)
        return TextIs(key, sign, value.text)


def _numbers(key: str, sign: str, number: float) -> InRange:
    match sign:
        case "=":
            return InRange(key, number, number, True, True)
        case "<":
            return InRange(key, None, number)
        case "<=":
            return InRange(key, None, number, True, True)
        case ">":
            return InRange(key, number, None, False)
        case _:
            return InRange(key, number, None)
