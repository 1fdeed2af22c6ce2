"""One setting and all that is said of it. Its check, its error, its row in the reference and its help follow from that.

Declared with `lexigraft.core.settings.section.setting` as a field of a section.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lexigraft.core.cut import DocumentCut, document_cut
from lexigraft.core.errors import SettingError, require
from lexigraft.core.settings.bounds import Bounds

AUTO = "auto"
LARGEST = 2**63  # whole numbers are less
NUMBER_OR_WORD = float | str
TEXTS = tuple[str, ...]
PAIRS = tuple[tuple[DocumentCut, DocumentCut], ...]
OPTIONAL_TEXT = str | None
SOME_PAIRS = 'pairs of counts or masses such as [[0, 0], [7, 20], [7, "m0.8"]]'
KINDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    OPTIONAL_TEXT: "text",
    NUMBER_OR_WORD: "number",
    TEXTS: "list of texts",
    PAIRS: "list of pairs of counts or masses",
}


@dataclass(frozen=True)
class Declaration:
    """What is said of a setting beside its name, type and default."""

    meaning: str  # begins in lower case and has no full stop
    more: str = ""  # what only the reference has room for: further sentences
    zero: str = ""  # what 0 stands for, where it stands for something
    empty: str = ""  # what an empty text or list stands for
    auto: str = ""  # what "auto" stands for; a number or a list that has this may be "auto", too
    one_of: Mapping[Any, str] = field(default_factory=dict)  # the values allowed, each with a meaning or an empty one
    some_of: tuple[str, ...] = ()  # what a list may hold
    bounds: Bounds = field(default_factory=Bounds)
    called: str = ""  # what errors call it, where that is not the name of its field
    words: Mapping[str, str] = field(default_factory=dict)  # what may stand in place of a number, beside "auto"


@dataclass(frozen=True)
class Setting:
    """A declared setting. `name` is the whole one, such as lexical.k1."""

    name: str
    type: Any
    default: Any
    said: Declaration

    def check(self, value: Any) -> None:
        """Raise unless `value`, which is of the right type, is allowed."""
        if not self._allows(value):
            shown = list(value) if isinstance(value, tuple) else value
            finite = "" if not isinstance(value, float) or math.isfinite(value) else "a finite number, "
            require(False, self.said.called or self.name, shown, finite + self.allowed)

    def _allows(self, value: Any) -> bool:
        if self.said.one_of:
            return value in self.said.one_of
        if self.type == PAIRS:
            return bool(value) and all(_is_pair_of_cuts(pair) for pair in value)
        if self.said.some_of:
            return value == (AUTO,) or (bool(value) and set(value) <= set(self.said.some_of))
        if isinstance(value, str) and self.type == NUMBER_OR_WORD:
            return value in self._words
        return self.said.bounds.hold(value) if isinstance(value, (int, float)) else True

    @property
    def allowed(self) -> str:
        """What is allowed, in the words of an error."""
        zero = f" (0: {plain(self.said.zero)})" if self.said.zero else ""
        return f"{self.range}{zero}"

    @property
    def range(self) -> str:
        """The values that are allowed of all that have its type; empty where that is every one."""
        or_auto = f", or {' or '.join(self._words)}" if self._words and self.type is not str else ""
        if self.said.one_of:
            return f"one of {', '.join(map(str, self.said.one_of))}"
        if self.said.some_of:
            return f"some of {', '.join(self.said.some_of)}{or_auto}"
        return SOME_PAIRS if self.type == PAIRS else f"{self.said.bounds.words}{or_auto}".removeprefix(", ")

    @property
    def _words(self) -> Mapping[str, str]:
        """The words that may stand in place of a number or a list, with their meanings."""
        return {**({AUTO: self.said.auto} if self.said.auto else {}), **self.said.words}

    @property
    def kind(self) -> str:
        """Its type in words."""
        return KINDS[self.type]

    @property
    def default_text(self) -> str:
        """The default as TOML and the command line write it."""
        return json.dumps(self.default)

    @property
    def special_values(self) -> list[tuple[str, str]]:
        """Values with a meaning of their own, and what each means."""
        named = [(json.dumps(value), meaning) for value, meaning in self.said.one_of.items()]
        words = [(json.dumps(word), meaning) for word, meaning in self._words.items()]
        others = [*words, ("0", self.said.zero), ("empty", self.said.empty)]
        return [(value, meaning) for value, meaning in [*named, *others] if meaning]

    def read(self, value: Any) -> Any:
        """`value`, as TOML or JSON gives it, as its type; lists become tuples and a lone value a tuple of one."""
        if any(isinstance(one, int) and abs(one) >= LARGEST for one in _numbers(value)):
            raise SettingError(f"{self.name} is a number of more than 64 bits, which is not allowed: {self.allowed}")
        if self.type in (TEXTS, PAIRS):
            return self._read_list(value)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.type == NUMBER_OR_WORD:
            require(number or value in list(self._words), self.name, value, self.allowed)
            return float(value) if number else value
        if self.type is float and number:
            return float(value)
        if type(value) is not self.type:
            wanted = f"of type {self.type.__name__}, like its default {self.default!r}"
            raise SettingError(f"{self.name} = {value!r} should be {wanted}")
        return value

    def _read_list(self, value: Any) -> tuple[Any, ...]:
        items = value if isinstance(value, list) else [value]
        item_type, form = (list, "[[0, 0], [7, 20]]") if self.type == PAIRS else (str, '["one", "two"]')
        ok = all(isinstance(item, item_type) for item in items)
        require(ok, self.name, value, f"it is a list such as {form}")
        return tuple(tuple(item) if isinstance(item, list) else item for item in items)


def _numbers(value: Any) -> Iterator[Any]:
    """A value, or those in its lists."""
    if not isinstance(value, list):
        yield value
        return
    for one in value:
        yield from one if isinstance(one, list) else (one,)


def plain(text: str) -> str:
    """A meaning without the marks of Markdown, for a terminal."""
    return text.replace("`", "")


def _is_pair_of_cuts(pair: tuple[Any, ...]) -> bool:
    return len(pair) == 2 and all(_is_count(count) or _is_mass(count) for count in pair)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_mass(value: Any) -> bool:
    """Whether it is a mass as it is written everywhere: two ways to write one would be two artifacts."""
    try:
        return isinstance(value, str) and document_cut(value) == value
    except SettingError:
        return False
