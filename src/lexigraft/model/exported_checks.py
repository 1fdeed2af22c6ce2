"""What an export of a model may say: whoever made the folder, what is read of it is looked through once, here."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.core.encoder_description import wrong_in_rule
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import require_plain_file
from lexigraft.inference.meta import (
    ALL_TOKENS,
    BY_MODEL,
    BY_TABLE,
    BY_WORDS,
    CLS,
    LOG1P,
    LOG1P_TWICE,
    MAX,
    SUM,
    EncoderMeta,
)

LONGEST = 1 << 20  # subwords of a text
MOST_TERMS = 2**31 - 1
SHORTEST = 3  # subwords: two special ones, and one between them
LONGEST_LINE, DEEPEST = 1_000, 4  # of what stands on a card
KNOWN = {
    "pooling": (MAX, SUM, CLS), "pooled": ("words", ALL_TOKENS), "activation": (LOG1P, LOG1P_TWICE),
    "queries": (BY_MODEL, BY_WORDS, BY_TABLE),
}  # fmt: skip
_ON_A_HUB = re.compile(r"[\w.-]+/[\w.-]+")


def wrong_in_meta(meta: EncoderMeta) -> str:
    """What no model says of itself, in words; empty where all is as expected."""
    if wrong := wrong_in_rule(meta.words):
        return wrong
    for name, known in KNOWN.items():
        if (value := getattr(meta, name)) not in known:
            return f"{name} = {value!r:.80}, which is none of {', '.join(known)}"
    lengths = dict.fromkeys(("query_length", "document_length"), (SHORTEST, LONGEST))
    limits = dict.fromkeys(("query_terms", "document_terms", "expansion_length"), (0, MOST_TERMS))
    for name, (least, most) in (lengths | limits).items():
        if not least <= (value := getattr(meta, name)) <= most:
            return f"{name} = {value}, which is not from {least} to {most:,}"
    return "" if 0 < meta.mean_words < LONGEST else f"mean_words = {meta.mean_words}, which is no mean"


def wrong_in_terms(terms: Sequence[Any]) -> str:
    """The same of a vocabulary."""
    for term in terms:
        if not isinstance(term, str) or not term or any(char in term for char in "\0\n"):
            return f"{term!r:.80}, which is no term"
        try:
            term.encode()
        except UnicodeEncodeError:
            return f"{term!r:.80}, which is not UTF-8"
    return "" if len(set(terms)) == len(terms) else "a term twice"


def wrong_in_card(card: Mapping[str, Any]) -> str:
    """The same of a card: its base is a name of a hub, its rows are tables of numbers and words of one line."""
    base, rows = card.get("base_model", ""), card.get("measured", [])
    if base and not (isinstance(base, str) and _ON_A_HUB.fullmatch(base)):
        return f"base_model = {base!r:.80}, which is no name of a hub"
    for name in ("trained", "collection"):
        if not isinstance(card.get(name, {}), dict):
            return f"{name}, which is no table"
    if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
        return "measured, which is no list of rows"
    counts = [card.get("collection", {}).get(name, 0) for name in ("queries", "documents")]
    if not all(isinstance(count, int) for count in counts):
        return "collection, whose counts are no numbers"
    return "" if _is_plain(dict(card), DEEPEST) else "what is no number or line of text"


def _is_plain(value: Any, deepest: int) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_LINE and value.isprintable()
    if isinstance(value, dict | list):
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        return deepest > 0 and all(_is_plain(one, deepest - 1) for one in inside)
    return value is None or isinstance(value, bool | int | float)


def require_own_file(folder: Path, file: Path, remedy: str) -> None:
    """Raise where a file of an export is no plain file, or a link to what lies elsewhere: it would be taken along."""
    try:
        require_plain_file(file, file.stat())
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror or error}); {remedy}") from error
    if not file.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{file} is a link to a file outside of the folder; put the file itself there")
