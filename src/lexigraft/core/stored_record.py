"""Small JSON files of an artifact as the records that they stand for, every field of which is looked at first.

A number of documents of 10**18, or one that is text, would otherwise be believed by whoever makes arrays of that size.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lexigraft.core.encoder_description import wrong_in
from lexigraft.core.errors import ArtifactError
from lexigraft.core.json_fields import shortened
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.os_errors import remedy_for
from lexigraft.core.plain_files import read_plain_file

Record = TypeVar("Record")


class Rule(NamedTuple):
    """What a field may hold, as a test and in words."""

    allows: Callable[[Any], bool]
    allowed: str
    what_is_wrong: Callable[[Any], str] = lambda value: ""  # where `allowed` alone does not say enough


def whole(least: int, most: int) -> Rule:
    """A whole number between both."""
    return Rule(lambda value: type(value) is int and least <= value <= most, f"a whole number from {least} to {most:,}")


def one_of(*values: Any) -> Rule:
    return Rule(
        lambda value: any(type(value) is type(known) and value == known for known in values),
        f"one of {', '.join(map(repr, values))}",
    )


def _is_finite(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _is_cut(value: Any) -> bool:
    """Whether it is what is kept of a document (core/cut.py)."""
    from lexigraft.core.cut import document_cut
    from lexigraft.core.errors import SettingError

    try:
        return type(value) in (int, str) and document_cut(value) == value
    except (SettingError, OverflowError):
        return False


COUNT = whole(0, 2**31 - 1)  # of documents and terms, whose numbers have 32 bits
MANY = whole(0, 2**62)  # of postings
NOT_NEGATIVE = Rule(lambda value: _is_finite(value) and value >= 0, "a finite number from 0 on")
POSITIVE = Rule(lambda value: _is_finite(value) and value > 0, "a finite number above 0")
TEXT = Rule(lambda value: isinstance(value, str), "a text")
YES_OR_NO = Rule(lambda value: isinstance(value, bool), "true or false")
OBJECT = Rule(lambda value: isinstance(value, dict), "an object")
LIST = Rule(lambda value: isinstance(value, list), "a list")
CUT = Rule(_is_cut, "a number of terms, or m and a share")
ENCODER = Rule(lambda value: not wrong_in(value), "the description of an encoder", wrong_in)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of an artifact."""
    try:
        found = json.loads(read_plain_file(path))
    except OSError as error:
        remedy = remedy_for(error, "build it again")
        raise ArtifactError(f"{path} cannot be read ({error.strerror or error}); {remedy}") from error
    except (ValueError, RecursionError):  # RecursionError: thousands of brackets
        raise ArtifactError(f"{path} is not JSON: {MADE_ELSEWHERE}") from None
    if not isinstance(found, dict):
        raise ArtifactError(f"{path} holds no JSON object: {MADE_ELSEWHERE}")
    return found


def require_fields(path: Path, found: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise `ArtifactError` unless what the file at `path` says of each field is allowed; one that is absent is not
    looked at."""
    for name, rule in rules.items():
        if name in found and not rule.allows(found[name]):
            why = rule.what_is_wrong(found[name])
            raise ArtifactError(
                f"{path} says {name} = {shortened(found[name])}, {rule.allowed} is allowed{why and f' ({why})'}: "
                f"{MADE_ELSEWHERE}"
            )


def record_of(path: Path, kind: type[Record], found: Mapping[str, Any], rules: Mapping[str, Rule]) -> Record:
    """The record that an object in the file at `path` stands for; raises where a field is unknown, absent or wrong."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(found.keys() - known.keys()):
        raise ArtifactError(f"{path} says {shortened(unknown[0])}, which nobody knows: {MADE_ELSEWHERE}")
    for name, field in known.items():
        if name not in found and field.default is MISSING and field.default_factory is MISSING:
            raise ArtifactError(f"{path} does not say {name}: {MADE_ELSEWHERE}")
    require_fields(path, found, rules)
    return kind(**found)


def read_record(path: Path, kind: type[Record], rules: Mapping[str, Rule]) -> Record:
    """`record_of` the whole file at `path`."""
    return record_of(path, kind, read_object(path), rules)
