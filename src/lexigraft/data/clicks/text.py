"""How the texts of a click log are compared and named: one normal form, one id."""

import hashlib
import unicodedata

# Tabs and line ends inside a Parquet value would break a TSV; the other control characters say nothing.
_CONTROLS_TO_SPACE = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ")
_INVISIBLE = ("Cc", "Cf")


def normal_text(text: str) -> str:
    """NFC, control characters and runs of whitespace as one space; empty where nothing visible is left."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        if all(char.isspace() or unicodedata.category(char) in _INVISIBLE for char in text):
            return ""
    if not text.isprintable():
        text = text.translate(_CONTROLS_TO_SPACE)
    return " ".join(text.split())


def query_id(text: str) -> str:
    return "q" + _digest(text)


def document_id(title: str) -> str:
    return "d" + _digest(title)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
