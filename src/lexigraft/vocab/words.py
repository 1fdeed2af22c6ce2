"""The one word rule: how any text, in any script, is cut into words.

Text is NFKC-normalised and lower-cased, then cut at the word boundaries of Unicode Standard Annex 29 (the `regex`
module's WORD flag), so that "don't" and "3.14" are words and Korean, Cyrillic or Arabic text needs nothing special.
Tailorings, which the annex allows: "_" separates words, and so do "." and ":" before a letter, because `os.path` and
`snake_case` are made of words that people search for; and a quotation mark always does, also between Hebrew letters.

`split_words` is the rule. `split_pieces` is its fast first half: it cuts at characters that separate words in every
context, so that `words_of_piece`, which applies the full rule, is needed only once per distinct piece. `pieces.py` does
that first half for whole batches of text.

Two things are an artifact's choice (`core.word_rule`), and `WordCutter` is the rule with that choice made: identifiers
are cut before they are lower-cased (`camel_case`), and accents are folded once a word is cut (`accents`).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import regex

from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.vocab.accents import NOTHING, fold_accents
from lexigraft.vocab.camel_case import MARK, mark_words

_WORD = regex.compile(r"[\p{L}\p{N}](?:\B(?![_\"]|[.:](?=\p{L})).)*", regex.WORD | regex.DOTALL)

# Letters and digits among which the rule never cuts: normalised Latin, Cyrillic, Hangul.
_PLAIN = re.compile("[0-9a-zß-öø-ɏа-ҁҋ-ԯ가-힣]+").fullmatch

# A piece of text with one word in it, whatever signs stand around that: by far the most, in a tenth of the time.
_ONE_WORD = re.compile(r"[^0-9A-Za-z]*([0-9A-Za-z]+)[^0-9A-Za-z]*").fullmatch

# What may join two letters or digits into one word. Any other ASCII character but these, letters and digits is in no
# word, whatever stands around it.
_JOINERS = "',.:;"
SEPARATORS = bytes(byte for byte in range(128) if not chr(byte).isalnum() and chr(byte) not in _JOINERS)
_SEPARATORS_TO_SPACE = bytes.maketrans(SEPARATORS, b" " * len(SEPARATORS))

# Characters that say how letters are drawn and are not seen themselves: soft hyphen, joiner and non-joiner, marks of
# direction, byte order mark, selectors of a variant. A zero-width space is none of them: it separates, as others do.
UNSEEN = (
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_UNSEEN = re.compile(UNSEEN)


def normalise(text: str, camel_case: bool = False) -> str:
    """NFKC and lower case; the typographic apostrophe becomes the plain one, and what is not seen goes, also between
    letters: who writes a joiner and who does not mean one word. With `camel_case`, the words of identifiers are
    separated first."""
    if text.isascii():
        return mark_words(text).lower() if camel_case else text.lower()
    composed = unicodedata.normalize("NFKC", text)
    lower = mark_words(composed).lower() if camel_case else composed.lower()
    return _UNSEEN.sub("", lower).replace("\u2019", "'")


def split_words(text: str) -> list[str]:
    """The words of `text`, in order, repeated as they repeat."""
    words: list[str] = _WORD.findall(normalise(text))
    return words


def places_of_words(text: str) -> list[tuple[int, int]]:
    """Where words lie in a text as it stands, which is not normalised: for who shows it and asks what each word becomes
    by itself. Words that normalising alone makes (of "™") are not found."""
    if text.isascii() and (one := _ONE_WORD(text)) is not None:
        return [one.span(1)]
    return [match.span() for match in _WORD.finditer(text)]


class SpannedText(NamedTuple):
    """A text as it can be shown, and where each of its words lies in it."""

    text: str
    spans: list[tuple[int, int]]


def word_spans(text: str, camel_case: bool = False) -> SpannedText:
    """Where the words of a text lie: in the text itself or, where normalising it moves its characters, in the
    normalised one."""
    clean = text.encode("utf-8", "replace").decode()
    normal = normalise(clean)
    stays = len(clean) == len(normal) and all(map(str.__eq__, map(normalise, clean), normal))
    spans = [match.span() for match in _WORD.finditer(normal)]
    if camel_case:
        marked = normalise(clean, camel_case)
        place = _places_without_marks(marked, normal)
        spans = [(place[match.start()], place[match.end() - 1] + 1) for match in _WORD.finditer(marked)]
    return SpannedText(clean if stays else normal, spans)


def _places_without_marks(marked: str, normal: str) -> list[int]:
    """Of each character of `marked`, which is `normal` with marks put in before letters, its place in `normal`."""
    places, at = list[int](), 0
    for character in marked:
        places.append(at)
        at += not (character == MARK and normal[at : at + 1] != MARK)
    return places


def split_pieces(text: str, camel_case: bool = False) -> list[bytes]:
    """Pieces of `text`, normalised, in UTF-8, whose words one after the other are `split_words(text)`."""
    return normalised_utf8(text, camel_case).translate(_SEPARATORS_TO_SPACE).split()


def normalised_utf8(text: str, camel_case: bool = False) -> bytes:
    """Normalised text in UTF-8; a lone surrogate, which UTF-8 cannot hold, becomes a question mark."""
    return normalise(text, camel_case).encode("utf-8", "replace")


def words_of_piece(piece: bytes) -> list[str]:
    """The words of one piece."""
    text = piece.decode()
    core = text.strip(_JOINERS)
    if _PLAIN(core) is not None:  # by far the most pieces: one word between joiners that join nothing
        return [core]
    words: list[str] = _WORD.findall(text)
    return words


@dataclass(frozen=True)
class WordCutter:
    """The word rule with its choices made. Accents stay on the letters `kept`: those that a stemmer goes by, which is
    asked next (`terms.TermRule`)."""

    rule: WordRule = FORMER_RULE
    kept: frozenset[str] = NOTHING

    def split_words(self, text: str) -> list[str]:
        """The words of any text, in order."""
        return self._folded(_WORD.findall(normalise(text, self.rule.split_camel_case)))

    def split_pieces(self, text: str) -> list[bytes]:
        """Pieces of `text`, whose words one after the other are those of the text."""
        return split_pieces(text, self.rule.split_camel_case)

    def normalised_utf8(self, text: str) -> bytes:
        """What `pieces.PieceTable` reads of a text."""
        return normalised_utf8(text, self.rule.split_camel_case)

    def words_of_piece(self, piece: bytes) -> list[str]:
        """The words of one piece."""
        words = words_of_piece(piece)
        return words if piece.isascii() else self._folded(words)

    def spans(self, text: str) -> SpannedText:
        """Where the words of `split_words` lie."""
        return word_spans(text, self.rule.split_camel_case)

    def fold(self, word: str) -> str:
        """What a normalised word becomes."""
        return fold_accents(word, self.kept) if self.rule.fold_accents else word

    def _folded(self, words: list[str]) -> list[str]:
        return [fold_accents(word, self.kept) for word in words] if self.rule.fold_accents else words
