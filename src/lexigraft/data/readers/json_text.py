"""JSON of users' files, of which nothing is dropped: a key that an object has twice is an error."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lexigraft.core.bounds import LARGEST_WHOLE, MOST_NESTED
from lexigraft.core.errors import InputError
from lexigraft.core.toml_files import unreadable

_MORE_OF_A_NUMBER = len("e+1")  # what may stand behind 1, and makes another number of it

_SPACE = re.compile(r"[ \t\n\r]*")


class RepeatedKeyError(ValueError):
    """An object names one key twice, and only one of its values could be kept."""


def parse_json(text: str) -> Any:
    """The value that `text` spells. Not strict: a raw control character in a string is somebody's data. Raises
    `ValueError` for what is no JSON, or millions of objects, `RecursionError` for what is nested too deeply."""
    _require_few_nested(text, 0)
    return _DECODER.decode(text)


def _require_few_nested(text: str, start: int) -> None:
    """Brackets in strings are counted, too: there are not as many of them either."""
    if len(text) - start > MOST_NESTED and text.count("{", start) + text.count("[", start) > MOST_NESTED:
        raise ValueError(f"more than {MOST_NESTED:,} lists and objects in one value")


def why_not(error: Exception) -> str:
    """What `parse_json` raised, in words."""
    return str(error) if isinstance(error, RepeatedKeyError) else f"not valid JSON: {unreadable(error)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RepeatedKeyError(f"an object has the key {twice!r} twice; keep the one that is meant")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)


class JsonStream:
    """Reads one JSON text that comes in pieces, and holds of an array or object that is gone through only the value
    that it is at. Raises `InputError` with the line where the text is no JSON."""

    def __init__(self, path: Path, pieces: Iterator[str]) -> None:
        self._path, self._pieces = path, pieces
        self._text, self._at, self._ended = "", 0, False
        self._line, self._column = 1, 1  # of the beginning of `_text`

    def next_mark(self) -> str:
        """The character at which what comes next begins; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches anywhere
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read_on()

    def value(self) -> Any:
        """The value that comes next, whole. While it does not end within the text so far, as much again is read."""
        self.next_mark()
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
                if self._ended or end + _MORE_OF_A_NUMBER <= len(self._text):
                    self._at = end
                    return found
            except RepeatedKeyError as error:
                raise self.wrong(str(error), self._at) from error
            except (ValueError, RecursionError) as error:
                self._require_more_to_come(error)
            self._read_on()

    def _require_more_to_come(self, error: Exception) -> None:
        """Raise where what is wrong with a value is not only that it does not end yet."""
        if self._ended or len(self._text) - self._at > LARGEST_WHOLE:
            where, said = (
                (error.pos, error.msg) if isinstance(error, json.JSONDecodeError) else (self._at, unreadable(error))
            )
            within = "" if self._ended else f" (in the next {LARGEST_WHOLE >> 20} MiB, the most that one value has)"
            raise self.wrong(f"not valid JSON: {said}{within}", where) from error
        try:
            _require_few_nested(self._text, self._at)
        except ValueError as many:
            raise self.wrong(str(many), self._at) from error

    def items(self) -> Iterator[Any]:
        """The values of an array."""
        for _ in self._parts("[", "]"):
            yield self.value()

    def fields(self) -> Iterator[str]:
        """The keys of an object; whoever takes one reads its value before the next."""
        for _ in self._parts("{", "}"):
            key = self.value()
            if not isinstance(key, str):
                raise self.wrong("not valid JSON: a key is no string", self._at)
            self.take(":")
            yield key

    def _parts(self, opening: str, closing: str) -> Iterator[None]:
        self.take(opening)
        if self.next_mark() != closing:
            yield
            while self.next_mark() != closing:
                self.take(",")
                yield
        self.take(closing)

    def take(self, mark: str) -> None:
        """Go behind `mark`, which must come next; "" is the end."""
        if self.next_mark() != mark:
            said = f"Expecting {mark!r} delimiter" if mark else "Extra data"
            raise self.wrong(f"not valid JSON: {said}", self._at)
        self._at += len(mark)

    def wrong(self, said: str, at: int) -> InputError:
        line = self._line + self._text.count("\n", 0, at)
        before = self._text.rfind("\n", 0, at)
        column = at - before if before >= 0 else self._column + at
        return InputError(f"{self._path}:{line}: {said} (column {column})")

    def _read_on(self) -> None:
        """Let go what was read, and read as much again as is left."""
        text, at = self._text, self._at
        last = text.rfind("\n", 0, at)
        self._column = at - last if last >= 0 else self._column + at
        self._line += text.count("\n", 0, at)
        parts, length = [text[at:]], 0
        while length <= len(parts[0]) and not self._ended:
            parts.append(next(self._pieces, ""))
            length += len(parts[-1])
            self._ended = not parts[-1]
        self._text, self._at = "".join(parts), 0
