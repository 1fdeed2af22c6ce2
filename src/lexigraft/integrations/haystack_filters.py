"""Haystack's filters, written in the language of conditions that searches take."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from lexigraft.core.errors import InputError

Filters = Mapping[str, Any]

SIGNS = {"==": "=", "!=": "!=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}
LISTS = {"in": "in", "not in": "not in"}
OPERATORS = (*SIGNS, *LISTS, "AND", "OR", "NOT")
FORM = "{'field': 'meta.year', 'operator': '>=', 'value': 2020}"


def condition_of(filters: Filters) -> str:
    """A condition that the same documents fulfil. `meta.` before the name of a field may be left out."""
    if not isinstance(filters, Mapping) or "operator" not in filters:
        raise InputError(f"{filters!r:.200} is no filter; give one such as {FORM}")
    operator = filters["operator"]
    if operator in _JOINED:
        parts = _part(filters, "conditions")
        if not isinstance(parts, list) or not parts:
            raise InputError(f"the conditions of {operator} are {parts!r:.200}; give a list of filters, at least one")
        return _JOINED[operator]([condition_of(part) for part in parts])
    if operator not in OPERATORS:
        raise InputError(f"operator {operator!r} is not known; one of {', '.join(OPERATORS)}")
    field = _field(_part(filters, "field"))
    value = _part(filters, "value")
    if operator in LISTS:
        return f"{field} {LISTS[operator]} ({', '.join(map(_value, _values(value)))})"
    return f"{field} {SIGNS[operator]} {_value(value)}"


def _part(filters: Filters, name: str) -> Any:
    if name not in filters:
        raise InputError(f"{dict(filters)!r:.200} has no {name!r}; give a filter such as {FORM}")
    return filters[name]


_JOINED: dict[str, Callable[[list[str]], str]] = {
    "AND": lambda parts: " and ".join(f"({part})" for part in parts),
    "OR": lambda parts: " or ".join(f"({part})" for part in parts),
    "NOT": lambda parts: f"not ({' and '.join(f'({part})' for part in parts)})",
}


def _field(name: Any) -> str:
    if not isinstance(name, str) or not name.removeprefix("meta."):
        raise InputError(f"field {name!r} is no name; give one such as 'meta.year'")
    return _quoted(name.removeprefix("meta."))


def _values(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{value!r:.200} is no list of values; 'in' and 'not in' take one, of at least one value")
    return value


def _value(value: Any) -> str:
    """Truth values are stored as the words of JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date):
        return _quoted(value.isoformat())
    if isinstance(value, str):
        return _quoted(value)
    raise InputError(f"{value!r:.200} is no value to compare with; give a text, a number or a date")


def _quoted(text: str) -> str:
    protected = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{protected}"'
