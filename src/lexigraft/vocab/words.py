"""The one word rule: how any text, in any script, is cut into words.

Text is NFKC-normalised and lower-cased, then cut at the word boundaries of Unicode Standard Annex 29 (the `regex`
module's WORD flag), so that "don't" and "3.14" are words and Korean, Cyrillic or Arabic text needs nothing special.
Tailorings, which the annex allows: "_" separates words, and so do "." and ":" before a letter, because `os.path` and
`snake_case` are made of words that people search for; and a quotation mark always does, also between Hebrew letters.

`split_words` is the rule. `split_pieces` is its fast first half: it cuts at characters that separate words in every
context, so that `words_of_piece`, which applies the full rule, is needed only once per distinct piece. `pieces.py` does
that first half for whole batches of text.
"""

import re
import unicodedata
from typing import NamedTuple

import regex

_WORD = regex.compile(r"[\p{L}\p{N}](?:\B(?![_\"]|[.:](?=\p{L})).)*", regex.WORD | regex.DOTALL)

# Letters and digits among which the rule never cuts: normalised Latin, Cyrillic, Hangul.
_PLAIN = re.compile("[0-9a-zß-öø-ɏа-ҁҋ-ԯ가-힣]+").fullmatch

# What may join two letters or digits into one word. Any other ASCII character but these, letters and digits is in no
# word, whatever stands around it.
_JOINERS = "',.:;"
SEPARATORS = bytes(byte for byte in range(128) if not chr(byte).isalnum() and chr(byte) not in _JOINERS)
_SEPARATORS_TO_SPACE = bytes.maketrans(SEPARATORS, b" " * len(SEPARATORS))


def normalise(text: str) -> str:
    """NFKC and lower case; the typographic apostrophe becomes the plain one, soft hyphens go."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u00ad", "")


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, repeated as they repeat."""
    words: list[str] = _WORD.findall(normalise(text))
    return words


class SpannedText(NamedTuple):
    """A text as it can be shown, and where each of its words lies in it."""

    text: str
    spans: list[tuple[int, int]]


def word_spans(text: str) -> SpannedText:
    """Where the words of `split_words(text)` lie: in the text itself or, where normalising it moves its characters, in
    the normalised one."""
    clean = text.encode("utf-8", "replace").decode()
    normal = normalise(clean)
    stays = len(clean) == len(normal) and all(map(str.__eq__, map(normalise, clean), normal))
    return SpannedText(clean if stays else normal, [match.span() for match in _WORD.finditer(normal)])


def split_pieces(text: str) -> list[bytes]:
    """Pieces of `text`, normalised, in UTF-8, whose words one after the other are `split_words(text)`."""
    return normalised_utf8(text).translate(_SEPARATORS_TO_SPACE).split()


def normalised_utf8(text: str) -> bytes:
    """Normalised text in UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes a question mark."""
    return normalise(text).encode("utf-8", "replace")


def words_of_piece(piece: bytes) -> list[str]:
    """The words of one piece."""
    text = piece.decode()
    core = text.strip(_JOINERS)
    if _PLAIN(core) is not None:  # by far the most pieces: one word between joiners that join nothing
        return [core]
    words: list[str] = _WORD.findall(text)
    return words
