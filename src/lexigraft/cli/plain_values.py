"""Values of options that need no pydantic: texts, whole numbers and paths as they stand on the command line.

typer converts every value of a command by pydantic, those that were not given, too, and imports it for that, which
takes longer than a search. What is obvious is converted here, to the same; everything else, and what is wrong, is left
to typer.
"""

import os
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperOption

MOST_DIGITS = 19  # of a number that is obvious
LEFT = object()  # what says that a value is left to typer


def convert_plain_values() -> None:
    """Have typer convert by itself only what is not obvious. Versions of it without pydantic are left as they are."""
    for kind in (TyperOption, TyperArgument):
        usual = getattr(kind, "get_runtime_param", None)
        if usual is not None and not isinstance(usual, _Wrapped):
            setattr(kind, "get_runtime_param", _Wrapped(usual))  # noqa: B010


class _Wrapped:
    """typer's way to what converts a parameter's values, which is gone only when it is needed."""

    def __init__(self, usual: Any) -> None:
        self._usual = usual

    def __get__(self, parameter: Any, _: type) -> Any:
        return self if parameter is None else lambda: _Converter(parameter, self._usual)


class _Converter:
    """Converts the values of one parameter."""

    def __init__(self, parameter: Any, usual: Any) -> None:
        self._parameter, self._usual = parameter, usual

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """As typer's own object of this name."""
        descriptor = self._parameter.type_descriptor
        several = param.multiple or param.nargs == -1
        if value is None and not several:
            return None
        if not value and several:
            return ()
        found = LEFT if several else plain(value, descriptor.annotation, descriptor.parameter_info)
        return self._usual(self._parameter).coerce(value, param=param, ctx=ctx) if found is LEFT else found


def plain(value: Any, wanted: Any, asked: Any) -> Any:
    """`value` as the type that is `wanted`, or LEFT where that is not obvious; `asked` is what typer knows about it."""
    if asked.parser is not None:
        return LEFT
    if wanted is str and type(value) is str:
        return value
    if wanted is int and type(value) is str and value.isascii() and value.isdecimal() and len(value) < MOST_DIGITS:
        value = int(value)
    if wanted in (int, float) and type(value) is wanted:
        above, below = asked.min is None or value >= asked.min, asked.max is None or value <= asked.max
        return value if above and below else LEFT
    if wanted is Path and type(value) is str and _any_path(asked):
        path = Path(value)
        there = os.path.exists(path)  # noqa: PTH110  # False where it cannot be looked at
        return path if not there or os.access(path, os.R_OK) else LEFT
    return LEFT


def _any_path(asked: Any) -> bool:
    """Whether every path that can be read is allowed, as it stands."""
    narrow = asked.exists or asked.writable or asked.resolve_path or asked.allow_dash or asked.path_type is not None
    return bool(asked.file_okay and asked.dir_okay and not narrow)
