"""What values of requests look like: one description reads a value, refuses wrong ones, and is its JSON schema.

So what OpenAPI says and what the server does cannot drift apart.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lexigraft.serve.refused import RefusedError

# Characters that no text has use for: all controls but tab and the ends of lines. JSON may also hold halves of
# surrogate pairs, which no UTF-8 can answer.
CONTROLS = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"
_NO_TEXT = re.compile(f"[{CONTROLS}\ud800-\udfff]")
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{0,15}\.?[0-9]{1,15}(e-?[0-9]{1,2})?")

Schema = dict[str, Any]


class Shape(Protocol):
    """One kind of value."""

    def schema(self) -> Schema: ...

    def read(self, value: Any, name: str) -> Any:
        """The value, checked; raises `RefusedError`."""
        ...

    def of_text(self, text: str) -> Any:
        """What a parameter of an address means; `read` checks it."""
        ...


def wrong(name: str, allowed: str) -> RefusedError:
    return RefusedError(422, f"{name} is not allowed: {allowed}")


@dataclass(frozen=True)
class Text:
    """A text without control characters. `plain`: an id or a term, which may hold any character."""

    longest: int
    plain: bool = True

    def schema(self) -> Schema:
        rule = {"pattern": f"^[^{CONTROLS}]*$"} if self.plain else {}
        return {"type": "string", "maxLength": self.longest, **rule}

    def read(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise wrong(name, "a text")
        if len(value) > self.longest:
            raise wrong(name, f"a text of at most {self.longest:,} characters; this one has {len(value):,}")
        bad = _NO_TEXT.search(value)
        if bad and (self.plain or "\ud800" <= bad[0] <= "\udfff"):
            raise wrong(name, f"a text without control characters; this one has U+{ord(bad[0]):04X}")
        return value

    def of_text(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class Whole:
    least: int
    most: int

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, value: Any, name: str) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # 10.0 is an integer to JSON schema
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            raise wrong(name, f"a whole number from {self.least:,} to {self.most:,}")
        return value

    def of_text(self, text: str) -> Any:
        return int(text) if _WHOLE.fullmatch(text) else text


@dataclass(frozen=True)
class Number:
    least: float
    most: float
    above: bool = False  # more than `least` and less than `most`

    def schema(self) -> Schema:
        names = ("exclusiveMinimum", "exclusiveMaximum") if self.above else ("minimum", "maximum")
        return {"type": "number", names[0]: self.least, names[1]: self.most}

    def read(self, value: Any, name: str) -> float:
        said = f"a number from {self.least:g} to {self.most:g}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong(name, said)
        if not self.least <= value <= self.most or (self.above and value in (self.least, self.most)):
            raise wrong(name, said)
        return value

    def of_text(self, text: str) -> Any:
        return float(text) if _NUMBER.fullmatch(text) else text


@dataclass(frozen=True)
class YesOrNo:
    def schema(self) -> Schema:
        return {"type": "boolean"}

    def read(self, value: Any, name: str) -> bool:
        if not isinstance(value, bool):
            raise wrong(name, "true or false")
        return value

    def of_text(self, text: str) -> Any:
        return {"true": True, "false": False, "1": True, "0": False}.get(text, text)


@dataclass(frozen=True)
class OneOf:
    """One of some words; `unknown` is the status of another one."""

    words: Sequence[str]
    unknown: int = 422

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words)}

    def read(self, value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise wrong(name, "a text")
        if value not in self.words:
            raise RefusedError(self.unknown, f"{name} is not known; there is {', '.join(self.words)}")
        return value

    def of_text(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class ListOf:
    of: Shape
    most: int
    least: int = 0

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema(), "minItems": self.least, "maxItems": self.most}

    def read(self, value: Any, name: str) -> list[Any]:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise wrong(name, f"a list of {self.least} to {self.most:,}")
        return [self.of.read(one, f"{name}[{at}]") for at, one in enumerate(value)]

    def of_text(self, text: str) -> Any:
        return self.of.of_text(text)


@dataclass(frozen=True)
class MapOf:
    """Values by a term."""

    of: Shape
    most: int
    longest: int

    def schema(self) -> Schema:
        names = {"maxLength": self.longest}
        return {
            "type": "object", "additionalProperties": self.of.schema(), "maxProperties": self.most,
            "propertyNames": names,
        }  # fmt: skip

    def read(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > self.most:
            raise wrong(name, f"an object of at most {self.most:,} entries")
        key = Text(self.longest, plain=False)
        return {key.read(term, f"a name in {name}"): self.of.read(one, name) for term, one in value.items()}

    def of_text(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class Either:
    """The first of some shapes that takes a value."""

    shapes: Sequence[Shape]
    said: str

    def schema(self) -> Schema:
        return {"anyOf": [shape.schema() for shape in self.shapes]}

    def read(self, value: Any, name: str) -> Any:
        for shape in self.shapes:
            try:
                return shape.read(value, name)
            except RefusedError:
                continue
        raise wrong(name, self.said)

    def of_text(self, text: str) -> Any:
        return next((found for shape in self.shapes if (found := shape.of_text(text)) != text), text)


@dataclass(frozen=True)
class Matching:
    """A text of a certain form."""

    form: str
    said: str

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{self.form}$"}

    def read(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not re.fullmatch(self.form, value):
            raise wrong(name, self.said)
        return value

    def of_text(self, text: str) -> Any:
        return text


@dataclass(frozen=True)
class Fields:
    """An object, whose fields are all known; those in `needed` must be there. Fields that are null are left out."""

    of: Mapping[str, Shape]
    needed: tuple[str, ...] = ()

    def schema(self) -> Schema:
        found = {
            name: shape.schema() if name in self.needed else {"anyOf": [shape.schema(), {"type": "null"}]}
            for name, shape in self.of.items()
        }
        return {"type": "object", "properties": found, "required": list(self.needed), "additionalProperties": False}

    def read(self, value: Any, name: str = "the body") -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(name, "an object")
        if unknown := [key for key in value if key not in self.of]:
            raise RefusedError(422, f"{unknown[0][:40]!r} is not known; there is {', '.join(self.of)}")
        if missing := [key for key in self.needed if value.get(key) is None]:
            raise RefusedError(422, f"{missing[0]} is missing")
        return {key: self.of[key].read(one, key) for key, one in value.items() if one is not None}
