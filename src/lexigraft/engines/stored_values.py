"""Metadata in the form in which engines of JSON keep them: numbers, dates as microseconds from 1970 on, texts, lists
of texts, under names that need no quoting anywhere."""

from collections.abc import Mapping

import regex

from lexigraft.core.dates import read_period
from lexigraft.index.metadata import DATE, LIST
from lexigraft.index.metadata_values import Scalar, Value, as_text

Stored = Scalar | list[str]
_PLAIN = regex.compile(r"(?!hex_)[A-Za-z_][A-Za-z0-9_]{0,99}")


def name_of(key: str) -> str:
    """A key itself where it is a plain word; else its characters in hexadecimal. Engines read dots, brackets and quotes
    in a key as a path, each in its own way."""
    return key if _PLAIN.fullmatch(key) else f"hex_{key.encode().hex()}"


def stored_values(metadata: Mapping[str, Value], kinds: Mapping[str, str]) -> dict[str, Stored]:
    """By the names of their keys; what no condition can ask for, because its key has no kind, is left out."""
    return {name_of(key): _stored(value, kinds[key]) for key, value in metadata.items() if key in kinds}


def _stored(value: Value, kind: str) -> Stored:
    if kind == LIST:
        elements = value if isinstance(value, tuple) else (value,)
        return [one if isinstance(one, str) else as_text(one) for one in elements]
    assert not isinstance(value, tuple), "only lists have several values"
    if kind == DATE:
        period = read_period(str(value))
        assert period is not None, "a column of dates holds dates alone"
        return period.start
    return value
