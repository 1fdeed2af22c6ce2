"""Haystack's filters, written in the language of conditions that searches take."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from lexigraft.core.errors import InputError

Filters = Mapping[str, Any]

SIGNS = {"==": "=", "!=": "!=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}
LISTS, EQUALITY = ("in", "not in"), ("==", "!=")
OPERATORS = (*SIGNS, *LISTS, "AND", "OR", "NOT")
ANY = '"2020"'  # a number, a date and a text at once: whatever a field is, it compares with this
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
        found = _among(field, _values(value))
        return found if operator == "in" else f"not ({found})"
    if value is None and operator in EQUALITY:
        return f"{'not ' * (operator == '==')}({_has_a_value(field)})"
    return f"{field} {SIGNS[operator]} {_value(value)}"


def _among(field: str, values: list[Any]) -> str:
    """That a field is one of some values, of which None is to have none; and never, where there are no values."""
    given = [_value(value) for value in values if value is not None]
    parts = [f"{field} in ({', '.join(given)})"] if given else []
    if len(given) < len(values):
        parts.append(f"not ({_has_a_value(field)})")
    return " or ".join(parts) or f"{field} = {ANY} and {field} != {ANY}"


def _has_a_value(field: str) -> str:
    """What has no value is neither less nor more than anything."""
    return f"{field} < {ANY} or {field} >= {ANY}"


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
    if not isinstance(value, list):
        raise InputError(f"{value!r:.200} is no list of values; 'in' and 'not in' take one")
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
