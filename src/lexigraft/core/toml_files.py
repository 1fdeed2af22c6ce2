"""Reads TOML files, and says of a name that is not known which one was meant."""

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.plain_files import read_small_file

LARGEST_FILE = 16 << 20  # bytes


def read_toml(path: Path) -> Mapping[str, Any]:
    """What a TOML file holds; one that is none raises with the place."""
    return parse_toml(read_settings_file(path), str(path))


def read_settings_file(path: Path) -> bytes:
    """The bytes of a file of settings; one that is too large for that raises."""
    content = read_small_file(path, LARGEST_FILE + 1)  # no more than this is read: a device may have no end
    if len(content) > LARGEST_FILE:
        raise SettingError(f"{path} is larger than {LARGEST_FILE >> 20} MiB: it is no file of settings")
    return content


def parse_toml(content: bytes, name: str) -> Mapping[str, Any]:
    """The same of a file that was read before; `name` is what an error calls it."""
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, thousands of digits, thousands of brackets
        raise SettingError(f"{name} is not valid TOML: {unreadable(error)}") from error


def unreadable(error: Exception) -> str:
    """Why a text could not be read, in words for its writer: Python tells how its own limits are changed."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "a number has too many digits" if "integer string conversion" in str(error) else str(error)


def require_known(name: str, known: Sequence[str], what: str) -> None:
    """Raise unless `name` is one of `known`, with one of them that is near; `what` says what kind of name it is."""
    if name in known:
        return
    nearest = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {nearest[0]!r}? " if nearest else ""
    raise SettingError(f"unknown {what} {name!r}; {meant}Known: {', '.join(known)}")
