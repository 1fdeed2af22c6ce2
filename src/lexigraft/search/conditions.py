"""The language of conditions on metadata, read by recursive descent:

    year >= 2020 and (lang = "de" or lang in ("en", "fr")) and not tags has "draft"

    condition   and-part { "or" and-part }
    and-part    factor { "and" factor }
    factor      "not" factor | "(" condition ")" | test
    test        FIELD sign VALUE | FIELD ["not"] "in" "(" VALUE { "," VALUE } ")" | FIELD ["not"] "has" VALUE
    sign        = == != < <= > >=

Words of the language may be large or small. A field or value with a space, a comma or a parenthesis stands in quotes,
double or single ones; a backslash in them protects a quote or another backslash. A value that follows a sign may be any
other word, such as 2024-03-01 or https://x.example/?a=b.

The form from before, KEY=VALUE without quotes, in which the value goes on to the end of the text, is still read where
it cannot be taken for two conditions: `venue=Journal of Physics`.
"""

import re
from typing import NamedTuple, Never

from lexigraft.core.errors import SettingError

_FIELD = re.compile(r"""[^\s(),=!<>"'][^\s(),=!<>]*""")
_VALUE = re.compile(r"""[^\s(),"'][^\s(),]*""")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""", re.DOTALL)
_PROTECTED = re.compile(r"""\\(["'\\])""")
_SIGN = re.compile(r"!=|>=|<=|==|=|<|>")
_SPACE = re.compile(r"\s*")
_FORMER = re.compile(r"\s*([^=!<>]+?)\s*(!=|>=|<=|==|=|<|>)\s*(.*?)\s*", re.DOTALL)
_TWO_CONDITIONS = re.compile(r"(?:^|\s)(?:and|or)(?:\s|$)|\s\S*[=<>]", re.IGNORECASE)
_WORDS = {"and", "or", "not", "in", "has"}
DEEPEST = 100  # parentheses within each other: more is a mistake, and would be too much for Python
SHOWN = 20  # characters of the place where something is wrong


class Literal(NamedTuple):
    text: str
    quoted: bool
    at: int  # where it stands


class Compare(NamedTuple):
    key: str
    sign: str  # one of = != < <= > >=
    value: Literal
    at: int


class In(NamedTuple):
    """The field is one of the values."""

    key: str
    values: tuple[Literal, ...]
    at: int


class Has(NamedTuple):
    """One of the field's elements is the value."""

    key: str
    value: Literal
    at: int


class Not(NamedTuple):
    part: "Node"


class AllOf(NamedTuple):
    parts: tuple["Node", ...]


class AnyOf(NamedTuple):
    parts: tuple["Node", ...]


Node = Compare | In | Has | Not | AllOf | AnyOf


class Condition(NamedTuple):
    """What a user wrote, and what it means."""

    text: str
    root: Node

    def wrong_at(self, at: int, problem: str) -> Never:
        """Raise the error that points at a place of the text."""
        rest = self.text[at:].strip()
        shown = rest[:SHOWN] + ("..." if len(rest) > SHOWN else "")
        place = f"at character {at + 1}, {shown!r}" if rest else "at the end"
        raise SettingError(f"the condition {self.text!r}, {place}: {problem}")


def parse_condition(text: str) -> Condition:
    """`text` as a condition; raises for one that is none, and says where."""
    try:
        return Condition(text, _Parser(text).whole())
    except SettingError:
        former = _former(text)
        if former is None:
            raise
        return Condition(text, former)


def _former(text: str) -> Compare | None:
    """A condition of the former form; None where `text` is none, or may be meant for something else."""
    match = _FORMER.fullmatch(text)
    if match is None or "(" in match[1] or _WORDS & {word.lower() for word in match[1].split()[1:]}:
        return None
    value = match[3]
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    elif len(value) > 1 and value[0] in "\"'":  # a quote that does not end
        return None
    if _TWO_CONDITIONS.search(value) or value.count("(") != value.count(")"):
        return None
    return Compare(match[1], "=" if match[2] == "==" else match[2], Literal(value, False, match.start(3)), 0)


class _Parser:
    """Goes through the text once, from `at` on; every method takes what it names, or raises where it is not there."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> Node:
        found = self._condition()
        if self._rest():
            if self._rest().startswith(")"):
                self._wrong("no parenthesis was opened that this one closes")
            self._wrong("'and', 'or' or the end is expected; a value with spaces stands in quotes")
        return found

    def _condition(self) -> Node:
        parts = [self._and_part()]
        while self._word("or"):
            parts.append(self._and_part())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _and_part(self) -> Node:
        parts = [self._factor()]
        while self._word("and"):
            parts.append(self._factor())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _factor(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            self._wrong(f"more than {DEEPEST} parentheses or 'not' stand within each other")
        begin = self._at
        if self._word("not"):
            if not _SIGN.match(self._text, self._next()):
                found: Node = Not(self._factor())
                self._depth -= 1
                return found
            self._at = begin  # a field that is called so
        found = self._inside() if self._mark("(") else self._test()
        self._depth -= 1
        return found

    def _inside(self) -> Node:
        found = self._condition()
        if not self._mark(")"):
            self._wrong("'and', 'or' or a closing parenthesis is expected")
        return found

    def _test(self) -> Node:
        at = self._next()
        key = self._field()
        if sign := _SIGN.match(self._text, self._next()):
            self._at = sign.end()
            return Compare(key, "=" if sign[0] == "==" else sign[0], self._value(), at)
        denied = self._word("not")
        if self._word("in"):
            found: Node = In(key, self._values(), at)
        elif self._word("has"):
            found = Has(key, self._value(), at)
        else:
            self._wrong("one of = != < <= > >= in has is expected")
        return Not(found) if denied else found

    def _values(self) -> tuple[Literal, ...]:
        if not self._mark("("):
            self._wrong("a list such as (1, 2) is expected")
        found = [self._value()]
        while self._mark(","):
            found.append(self._value())
        if not self._mark(")"):
            self._wrong("a comma or a closing parenthesis is expected")
        return tuple(found)

    def _field(self) -> str:
        found = self._quoted() or self._bare(_FIELD)
        return found.text if found is not None else self._wrong("the name of a field is expected")

    def _value(self) -> Literal:
        found = self._quoted() or self._bare(_VALUE)
        return found if found is not None else self._wrong("a value is expected")

    def _quoted(self) -> Literal | None:
        at = self._next()
        match = _QUOTED.match(self._text, at)
        if match is None:
            if self._text[at : at + 1] in ('"', "'"):
                self._wrong("this quote is not closed")
            return None
        self._at = match.end()
        return Literal(_PROTECTED.sub(r"\1", match[1] if match[1] is not None else match[2]), True, at)

    def _bare(self, form: re.Pattern[str]) -> Literal | None:
        at = self._next()
        match = form.match(self._text, at)
        if match is None:
            return None
        self._at = match.end()
        return Literal(match[0], False, at)

    def _word(self, word: str) -> bool:
        """Take a word of the language where it stands here."""
        at = self._next()
        match = _FIELD.match(self._text, at)
        if match is None or match[0].lower() != word:
            return False
        self._at = match.end()
        return True

    def _mark(self, mark: str) -> bool:
        at = self._next()
        if not self._text.startswith(mark, at):
            return False
        self._at = at + 1
        return True

    def _next(self) -> int:
        """Go to the next character that is no space."""
        match = _SPACE.match(self._text, self._at)
        assert match is not None, "no space is a match, too"
        self._at = match.end()
        return self._at

    def _rest(self) -> str:
        return self._text[self._next() :]

    def _wrong(self, problem: str) -> Never:
        """Raise for what stands here, or does not."""
        Condition(self._text, AllOf(())).wrong_at(self._next(), problem)
