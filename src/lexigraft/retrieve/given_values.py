"""Metadata as a program gives them: a mapping for each document, checked before anything is written."""

from collections.abc import Mapping
from datetime import date
from numbers import Integral, Real
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.index.metadata_values import Scalar, Value

ALLOWED = "text, a number, true or false, a date, or a list of these"


def given_values(values: Any, whose: str) -> dict[str, Value]:
    """A mapping with its values as texts, numbers or tuples of those. None and what is not a number are no values.
    Raises `InputError` for what no condition could ask for; `whose` begins its message."""
    if not isinstance(values, Mapping):
        raise InputError(f"{whose} are {values!r:.60}; give a mapping of keys to values, such as {{'year': 2024}}")
    found: dict[str, Value] = {}
    for key, value in values.items():
        if not isinstance(key, str):
            raise InputError(f"{whose} have the key {key!r:.60}; keys are text")
        if isinstance(value, list | tuple):
            found[key] = tuple(_scalar(one, f"{whose} have in the list {key!r}") for one in value if _is_value(one))
        elif _is_value(value):
            found[key] = _scalar(value, f"{whose} have as {key!r}")
    return found


def _is_value(value: Any) -> bool:
    return value is not None and not (isinstance(value, Real) and value != value)


def _scalar(value: Any, what: str) -> Scalar:
    """Numbers of numpy and others as those of Python; true and false as those words, as in files."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, also of an enumeration's, which calls itself otherwise
    if isinstance(value, Real):
        return _number(value, what)
    if isinstance(value, date):
        return value.isoformat()
    raise InputError(f"{what} {value!r:.60}, which is {type(value).__name__}; give {ALLOWED}")


def _number(value: Real, what: str) -> int | float:
    try:
        number = int(value) if isinstance(value, Integral) else float(value)
        str(number)  # Python writes no whole numbers of more than some thousands of digits
    except (OverflowError, ValueError):
        raise InputError(f"{what} a number of too many digits; give it as text") from None
    return number
