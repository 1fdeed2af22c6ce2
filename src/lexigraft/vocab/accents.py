"""Letters without their accents: what makes `cafe` and `Café` one word.

Only Latin and Greek letters are folded. In other scripts a mark makes another letter (Cyrillic й) or is a vowel
(Devanagari, Thai, Hebrew, Arabic), and words without it would be other words. Hangul decomposes, too, and stays.
"""

import unicodedata
from functools import lru_cache

import regex

# Latin letters of living languages that do not decompose, as search engines usually fold them (so does Lucene).
UNDECOMPOSED = {
    "a": "ⱥə", "ae": "æ", "b": "ƀɓƃ", "c": "ƈȼ", "d": "đðɖɗƌ", "e": "ɇǝɛ", "f": "ƒ", "g": "ǥɠ", "h": "ħⱨ",
    "i": "ıɨɩ", "j": "ɉȷ", "k": "ƙⱪ", "l": "łƚɫɬⱡ", "n": "ŋɲƞ", "o": "øɔɵ", "oe": "œ", "p": "ƥᵽ", "q": "ĸɋ",
    "r": "ɍɽ", "s": "ʂȿ", "ss": "ß", "t": "ŧƭƫʈⱦ", "th": "þ", "u": "ʉ", "v": "ʋ", "w": "ⱳ", "y": "ƴɏ", "z": "ƶȥⱬ",
}  # fmt: skip
PLAIN_LETTERS = {letter: plain for plain, letters in UNDECOMPOSED.items() for letter in letters}

_FOLDED_SCRIPT = regex.compile(r"[\p{Latin}\p{Greek}]")
_MARKS = regex.compile(r"(?<=[\p{Latin}\p{Greek}])\p{Mn}+")


class _Folding(dict[int, str]):
    """For `str.translate`: every letter that was met, with what it becomes when no mark follows it."""

    def __init__(self, kept: frozenset[str]) -> None:
        super().__init__()
        self._kept = kept

    def __missing__(self, code: int) -> str:
        letter = folded = chr(code)
        if letter not in self._kept:
            base = unicodedata.normalize("NFD", letter)[0]
            if _FOLDED_SCRIPT.match(base):
                folded = PLAIN_LETTERS.get(base, base)
        self[code] = folded
        return folded


_folding = lru_cache(maxsize=None)(_Folding)
NOTHING: frozenset[str] = frozenset()


def fold_accents(word: str, kept: frozenset[str] = NOTHING) -> str:
    """A normalised word without the accents of its Latin and Greek letters, but for the letters `kept`, which stay as
    they are; a mark that no letter is composed with goes from any of them."""
    if word.isascii():
        return word
    folded = word.translate(_folding(kept))
    return folded if folded.isascii() else _MARKS.sub("", folded)
