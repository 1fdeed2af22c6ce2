"""Conditions in the language of Milvus, and texts in a form that needs no escaping in it.

Milvus and Milvus Lite read a backslash in a text differently, and so do their versions: texts that conditions name are
stored with the few characters that would need one written otherwise, in a way that keeps their order. Nor do they agree
on what a denial says of a value that is not there, or have one at all: every row names the keys that it has no value
of, and denials are carried inwards, to comparisons.
"""

from collections.abc import Callable, Mapping, Sequence

from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, Test, TextIs
from lexigraft.engines.stored_values import Stored, name_of
from lexigraft.index.metadata_values import Scalar

ABSENT = "no value of"  # no name of a key has a space
# What cannot stand in a text, and the character before it, which makes room for it: "!" < '"' as "!a" < "!b". An
# apostrophe is among them because Milvus Lite puts ids between two in SQL as they are.
_WRITTEN = {
    "\t": "\ta", "\n": "\tb", "\f": "\fa", "\r": "\fb", "!": "!a", '"': "!b", "&": "&a", "'": "&b",
    "[": "[a", "\\": "[b",
}  # fmt: skip
_TABLE = str.maketrans(_WRITTEN)
_READ = {written: character for character, written in _WRITTEN.items()}
_FIRST = {written[0] for written in _READ}

Deny = Callable[[str], str]


def written(text: str) -> str:
    """`text` in characters that can stand between quotes; two texts compare as what is written for them does."""
    return text.translate(_TABLE)


def read(text: str) -> str:
    """What was `written`."""
    if _FIRST.isdisjoint(text):
        return text
    found, place = [], 0
    while place < len(text):
        size = 2 if text[place] in _FIRST else 1
        found.append(_READ.get(text[place : place + size], text[place]))
        place += size
    return "".join(found)


def stored_meta(values: Mapping[str, Stored], names: Sequence[str]) -> dict[str, Scalar | list[str]]:
    """The JSON of a row: its values, and the names of those keys of the collection that it has none of."""
    found: dict[str, Scalar | list[str]] = {ABSENT: [name for name in names if name not in values]}
    for name, value in values.items():
        if isinstance(value, list):
            found[name] = [written(one) for one in value]
        else:
            found[name] = written(value) if isinstance(value, str) else value
    return found


def one_of(row_ids: Sequence[str]) -> str:
    """The rows with these ids."""
    return f"id in [{', '.join(map(_quoted, row_ids))}]"


def as_expression(test: Test, deny: Deny, denied: bool = False) -> str:
    """A test, or its denial. `deny` writes the denial of what has no opposite."""
    match test:
        case Not(part):
            return as_expression(part, deny, not denied)
        case AllOf(parts) | AnyOf(parts):
            word = " and " if isinstance(test, AllOf) != denied else " or "
            return word.join(f"({as_expression(part, deny, denied)})" for part in parts)
        case InRange(key, low, high, with_low, with_high):
            bounds = ((low, ">=" if with_low else ">", "<" if with_low else "<="),
                      (high, "<=" if with_high else "<", ">" if with_high else ">="))  # fmt: skip
            given = [(bound, sign, opposite) for bound, sign, opposite in bounds if bound is not None]
            if denied:
                return _or_absent(key, [f"{_field(key)} {opposite} {bound!r}" for bound, _, opposite in given])
            return " and ".join(f"{_field(key)} {sign} {bound!r}" for bound, sign, _ in given)
        case TextIs(key, sign, text):
            opposites = {"=": "!=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
            if denied:
                return _or_absent(key, [f"{_field(key)} {opposites[sign]} {_quoted(text)}"])
            return f"{_field(key)} {'==' if sign == '=' else sign} {_quoted(text)}"
        case HoldsElement(key, text):
            holds = f"json_contains({_field(key)}, {_quoted(text)})"
            return _or_absent(key, [deny(holds)]) if denied else holds
    raise AssertionError(test)


def _or_absent(key: str, tests: Sequence[str]) -> str:
    return " or ".join([f'json_contains(meta["{ABSENT}"], "{name_of(key)}")', *tests])


def _field(key: str) -> str:
    return f'meta["{name_of(key)}"]'


def _quoted(text: str) -> str:
    return f'"{written(text)}"'
