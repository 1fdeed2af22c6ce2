"""What a JSON file must hold, asked once where it is read: an unexpected key, type or number is one line with its name.

Checksums say that a file is as it was written, and not that whoever wrote it was this program: a number of documents of
10**18, or one that is text, would be believed by whoever makes arrays of that size. So every reader of JSON goes
through one of these: `record_of` for records, whose annotations say the types and whose rules say more, such as ranges;
`require_fields` for objects that are no records; `as_expected` around the few lines that take other files apart.
"""

import json
import math
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.core.os_errors import remedy_for
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.sealed_json import REMEDY

Record = TypeVar("Record")

LARGEST = 2**63  # whole numbers are less: arrays and files have no more places
SHOWN = 60  # characters of a value in an error
# What Python raises where a value is of another kind than the code expects.
UNEXPECTED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
_LISTS = (list, tuple, set, frozenset, Sequence, Collection)
_NAMES = {
    int: "a whole number", float: "a finite number", str: "a text", bool: "true or false", type(None): "null",
    list: "a list",
}  # fmt: skip


class Rule(NamedTuple):
    """What a field may hold, as a test and in words: more than its type says."""

    allows: Callable[[Any], bool]
    allowed: str
    what_is_wrong: Callable[[Any], str] = lambda value: ""  # where `allowed` alone does not say enough


def whole(least: int, most: int) -> Rule:
    """A whole number between both."""
    return Rule(lambda value: type(value) is int and least <= value <= most, f"a whole number from {least} to {most:,}")


def one_of(*values: Any) -> Rule:
    return Rule(lambda value: fits(value, Literal[values]), f"one of {', '.join(map(repr, values))}")


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
POSITIVE = Rule(lambda value: fits(value, float) and value > 0, "a finite number above 0")
CUT = Rule(_is_cut, "a number of terms, or m and a share")


def read_object(path: Path, remedy: str = REMEDY) -> dict[str, Any]:
    """The JSON object in a file of an artifact."""
    try:
        found = json.loads(read_plain_file(path))
    except OSError as error:
        advice = remedy_for(error, remedy)
        raise ArtifactError(f"{path} cannot be read ({error.strerror or error}); {advice}") from error
    except (ValueError, RecursionError):  # RecursionError: thousands of brackets
        raise _wrong(path, "is not JSON", remedy) from None
    if not isinstance(found, dict):
        raise _wrong(path, "holds no JSON object", remedy)
    return found


def read_record(path: Path, kind: type[Record], rules: Mapping[str, Rule], remedy: str = REMEDY) -> Record:
    """`record_of` the whole file at `path`."""
    return record_of(path, kind, read_object(path, remedy), rules, remedy)


def record_of(
    path: Path, kind: type[Record], content: Any, rules: Mapping[str, Rule] | None = None, remedy: str = REMEDY
) -> Record:
    """The record (a dataclass or a named tuple) that `content`, read from the file at `path`, stands for. Raises
    `ArtifactError` where a field is missing, unknown, or not what its rule or else its annotation says."""
    if not isinstance(content, Mapping):
        raise _wrong(path, f"holds {shortened(content)} instead of an object", remedy)
    expected, needed = _fields(kind)
    if unknown := sorted(content.keys() - expected.keys()):
        raise _wrong(path, f"has a key {shortened(unknown[0])} that is not known", remedy)
    require_fields(path, content, {**expected, **(rules or {})}, needed, remedy)
    return kind(**content)


def require_fields(
    path: Path, content: Mapping[str, Any], expected: Mapping[str, Any], needed: Collection[str], remedy: str = REMEDY
) -> None:
    """Raise unless what the file at `path` says under each name is `expected`, a type or a rule; what is not `needed`
    may be absent."""
    for name, hint in expected.items():
        if name in content:
            require_value(path, name, content[name], hint, remedy)
        elif name in needed:
            raise _wrong(path, f"does not say {name}", remedy)


def require_value(path: Path, name: str, value: Any, hint: Any, remedy: str = REMEDY) -> None:
    """Raise unless `value`, which the file at `path` has under `name`, is of a type, or what a rule allows."""
    if not fits(value, hint):
        why = hint.what_is_wrong(value) if isinstance(hint, Rule) else ""
        said = f"says {name} = {shortened(value)}, which must be {_in_words(hint)}{why and f' ({why})'}"
        raise _wrong(path, said, remedy)


@contextmanager
def as_expected(path: Path, remedy: str = REMEDY) -> Iterator[None]:
    """What the lines within raise because the content of the file at `path` is of another form than they expect becomes
    one line that names the file. Errors that name their reason already pass."""
    try:
        yield
    except LexigraftError:
        raise
    except UNEXPECTED as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise _wrong(path, f"does not hold what it should ({shortened(said, quoted=False)})", remedy) from error


def _wrong(path: Path, what: str, remedy: str) -> ArtifactError:
    return ArtifactError(f"{path} {what}: it was damaged or made by another program; {remedy}")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value that JSON can hold, or a record made of one, is of an annotated type, or allowed by a rule; a
    whole number passes for any other."""
    if isinstance(hint, Rule):
        return hint.allows(value)
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(fits(one, inner[1]) for one in value.values())
    if origin in _LISTS:
        return isinstance(value, (list, tuple)) and _all_fit(value, origin, inner)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return isinstance(value, (dict, hint))
    return _is_plain(value, hint)


def _all_fit(values: Sequence[Any], origin: Any, inner: tuple[Any, ...]) -> bool:
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(values) == len(inner) and all(map(fits, values, inner))
    return all(fits(one, inner[0]) for one in values)


def _is_plain(value: Any, hint: Any) -> bool:
    if hint is None or hint is type(None):
        return value is None
    if hint is bool or isinstance(value, bool):
        return hint is bool and isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and -LARGEST < value < LARGEST
    if hint is float:
        return isinstance(value, (int, float)) and -LARGEST < value < LARGEST and math.isfinite(value)
    return isinstance(value, hint)


def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """The types of a record's fields, and the names of those that have no default."""
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        known = fields(kind)
        without = {one.name for one in known if one.default is MISSING and one.default_factory is MISSING}
        return {one.name: hints[one.name] for one in known}, without
    return {name: hints[name] for name in kind._fields}, set(kind._fields) - kind._field_defaults.keys()


def shortened(value: Any, quoted: bool = True) -> str:
    """A value in an error: on one line, and not longer than can be read."""
    if isinstance(value, int) and abs(value) >= LARGEST:
        return "a whole number of more than 64 bits"
    shown = ascii(value) if quoted else value
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _in_words(hint: Any) -> str:
    if isinstance(hint, Rule):
        return hint.allowed
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_in_words, inner))
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin is not None and issubclass(origin, Mapping):
        return "an object"
    return "a list" if origin in _LISTS else _NAMES.get(hint, "an object")
