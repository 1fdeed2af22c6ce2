"""Arguments of what Python programs call, checked by their annotations: a wrong one is an error of the user's that
names it, and not one from somewhere within.

    @checked
    def search(self, query: str, k: int = 10, where: str | Sequence[str] = ()) -> list[Hit]: ...

Only what kind of thing a value is, is asked here: which numbers are allowed is known to who reads them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin

from lexigraft.core.errors import InputError, SettingError

P = ParamSpec("P")
R = TypeVar("R")

NAMES = {
    str: "a text", int: "a whole number", float: "a number", bool: "True or False", Path: "a path", NoneType: "None"
}  # fmt: skip
LONGEST = 60  # characters of a value that is shown


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which looks at its arguments first."""

    @cache  # at the first call: whoever only imports does not wait for it
    def hints() -> dict[str, Any]:
        return {name: one.annotation for name, one in signature(function).parameters.items()}

    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> R:
        known = hints()
        for name, value in (*zip(known, args, strict=False), *named.items()):
            if name not in known:
                raise SettingError(_said_of_unknown(function.__name__, name, list(known)))
            _check(name, value, known[name])
        return function(*args, **named)

    return called


def _check(name: str, value: Any, hint: Any) -> None:
    if hint is Parameter.empty or isinstance(hint, str) or _fits(value, hint):  # a name is known to type checkers alone
        return
    kinds = _kinds(hint)
    is_one = isinstance(value, str) and any(_is_list(kind) for kind in kinds)
    if is_one:
        raise InputError(f"{name} is one string; give a list of them, such as [{_shown(value)}]")
    for kind in kinds:
        if _is_list(kind) and isinstance(value, Collection) and not isinstance(value, bytes | bytearray | Mapping):
            (of,) = get_args(kind)
            at, wrong = next((at, one) for at, one in enumerate(value) if not _fits(one, of))
            raise InputError(f"{name}[{at}] = {_shown(wrong)} is not allowed: {_named(of)}")
    raise InputError(f"{name} = {_shown(value)} is not allowed: {_named(hint)}")


def _fits(value: Any, hint: Any) -> bool:
    return any(_is_a(value, kind) for kind in _kinds(hint))


def _is_a(value: Any, kind: Any) -> bool:
    if _is_list(kind):
        return _is_list_of(value, get_args(kind))
    kind = get_origin(kind) or kind
    if kind is Any or not isinstance(kind, type):
        return True
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    return isinstance(value, PathLike) if kind is Path else isinstance(value, kind)


def _is_list_of(value: Any, kinds: tuple[Any, ...]) -> bool:
    """What can be gone through only once, or is no collection of Python's, is looked at by who reads it."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable):
        return False
    return not isinstance(value, list | tuple | set | frozenset) or all(_fits(one, kinds[0]) for one in value)


def _is_list(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _named(hint: Any) -> str:
    named = [_name_of(kind) for kind in _kinds(hint) if kind is not NoneType]
    return " or ".join(dict.fromkeys(named))


def _name_of(kind: Any) -> str:
    if _is_list(kind):
        (of,) = get_args(kind)
        return "a list of texts" if of is str else f"a list of what is {_named(of)}"
    plain = get_origin(kind) or kind
    return "a mapping" if plain is Mapping else NAMES.get(plain) or f"a {getattr(plain, '__name__', plain)}"


def _shown(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} ..."


def _said_of_unknown(function: str, name: str, known: list[str]) -> str:
    names = [one for one in known if one not in ("self", "cls")]
    near = get_close_matches(name, names, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"{function} has no argument {name!r}: it takes {', '.join(names)}{meant}"
