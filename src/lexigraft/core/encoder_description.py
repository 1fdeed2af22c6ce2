"""What an artifact may say of the encoder that its queries need, whoever wrote it: {"kind": ..., and what that takes}.

An index, vectors and a live index each have one, and who opens an encoder looks things up in it. So it is asked here,
once, when the file that holds it is read.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_type_hints

from lexigraft.core.errors import SettingError
from lexigraft.core.stored_record import Rule, fits, shortened
from lexigraft.core.word_rule import ENTRY, WordRule

BM25_KINDS = ("bm25", "bm25 live")
OF_MODEL = {"model": str, "fingerprint": str, "bits": Literal[8, 32], "queries": Literal["model", "words", "table"]}
OF_WORDS = {"subwords": bool, "special": list[int], "unknown": int}  # of a model without which queries are written
LARGEST_SUBWORD = 2**31 - 1


def wrong_in(description: Any) -> str:
    """What no description of an encoder has, in words; empty where all is as expected. Of a kind that nobody knows,
    nothing is expected: who opens the encoder says that it is not known."""
    if not isinstance(description, dict) or not isinstance(kind := description.get("kind"), str):
        return "it has no kind"
    if kind in BM25_KINDS:
        return _wrong_in_bm25(description) or wrong_in_rule(description.get(ENTRY))
    if kind in ("model", "dense"):
        return _wrong_in_model(description, kind)
    return ""


def wrong_in_rule(entry: Any) -> str:
    """What no entry of a word rule has; one that is absent is the former rule's."""
    known = WordRule.__dataclass_fields__
    if entry and not (isinstance(entry, dict) and all(key in known and fits(entry[key], bool) for key in entry)):
        return f"{ENTRY} = {shortened(entry)} is no rule of words"
    return ""


def _wrong_in_bm25(description: Mapping[str, Any]) -> str:
    from lexigraft.core.settings import LexicalSettings

    named = {name: value for name, value in description.items() if name not in ("kind", ENTRY)}
    hints = get_type_hints(LexicalSettings)
    for name, value in named.items():
        if name not in LexicalSettings.__dataclass_fields__:
            return f"{shortened(name)} is not known"
        if not fits(value, hints[name]):
            return f"{name} = {shortened(value)}"
    try:
        LexicalSettings(**named)
    except SettingError as error:
        return shortened(str(error), quoted=False)
    return ""


def _wrong_in_model(description: Mapping[str, Any], kind: str) -> str:
    expected: dict[str, Any] = dict(OF_MODEL)
    needed = ["model"]
    if kind == "model" and description.get("queries") in ("words", "table"):
        expected |= OF_WORDS
        needed += OF_WORDS
    if absent := [name for name in needed if name not in description]:
        return f"it does not say {absent[0]}"
    for name, hint in expected.items():
        if name in description and not fits(description[name], hint):
            return f"{name} = {shortened(description[name])}"
    if "\0" in description["model"]:
        return f"model = {shortened(description['model'])}"
    if not all(-1 <= number <= LARGEST_SUBWORD for number in _subwords(description)):
        return "a number of a subword is out of range"
    return ""


def _subwords(description: Mapping[str, Any]) -> list[int]:
    return [*description.get("special", ()), description.get("unknown", -1)] if "subwords" in description else []


ENCODER = Rule(lambda value: not wrong_in(value), "the description of an encoder", wrong_in)
