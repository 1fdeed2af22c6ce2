"""What a JSON file must hold, asked once where it is read: an unexpected key, type or number is one line with its name.

Checksums say that a file is as it was written, and not that whoever wrote it was this program. So every reader of JSON
goes through one of these: `fields_of` for records, `as_expected` around the few lines that take other files apart.
"""

import math
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.core.sealed_json import REMEDY

Record = TypeVar("Record")

LARGEST = 2**63  # whole numbers are less: arrays and files have no more places
SHOWN = 60  # characters of a value in an error
# What Python raises where a value is of another kind than the code expects.
UNEXPECTED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
_LISTS = (list, tuple, set, frozenset, Sequence, Collection)


def fields_of(kind: type[Record], content: Any, path: Path, remedy: str = REMEDY) -> Record:
    """The record (a dataclass or a named tuple) that `content`, read from the file at `path`, stands for. Raises
    `ArtifactError` where a field is missing, unknown, or of another type than its annotation says."""
    if not isinstance(content, Mapping):
        raise ArtifactError(f"{path} holds {shortened(content)} instead of an object; {remedy}")
    hints, needed = _fields(kind)
    if unknown := sorted(content.keys() - hints.keys()):
        raise ArtifactError(f"{path} has a key {shortened(unknown[0])} that is not known; {remedy}")
    if absent := sorted(needed - content.keys()):
        raise ArtifactError(f"{path} does not say {absent[0]}; {remedy}")
    for name, value in content.items():
        require_type(hints[name], value, name, path, remedy)
    return kind(**content)


def require_type(hint: Any, value: Any, name: str, path: Path, remedy: str = REMEDY) -> None:
    """Raise unless `value`, which the file at `path` has under `name`, is of the type `hint`."""
    if not fits(value, hint):
        raise ArtifactError(f"{path} says {name} = {shortened(value)}, which must be {_in_words(hint)}; {remedy}")


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
        raise ArtifactError(
            f"{path} does not hold what it should ({shortened(said, quoted=False)}); {remedy}"
        ) from error


def fits(value: Any, hint: Any) -> bool:
    """Whether a value that JSON can hold is of an annotated type; a whole number passes for any other."""
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
        return isinstance(value, list) and _all_fit(value, origin, inner)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return isinstance(value, dict)
    return _is_plain(value, hint)


def _all_fit(values: list[Any], origin: Any, inner: tuple[Any, ...]) -> bool:
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
    if hint is str:
        return isinstance(value, str)
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
    names = {
        int: "a whole number", float: "a finite number", str: "a text", bool: "true or false", type(None): "null",
    }  # fmt: skip
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_in_words, inner))
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin is not None and issubclass(origin, Mapping):
        return "an object"
    return "a list" if origin in _LISTS else names.get(hint, "an object")
