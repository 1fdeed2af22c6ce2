"""What kind of a thing a term is, for tables of wacky ones: the study found names, foreign scripts and pieces there.

Names are told by how a word is written in raw text: a word that nearly always has a capital where no sentence begins.
A word that the text does not hold often enough is not decided.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

STOP_WORD, PUNCTUATION, NAME, PIECE, DIGITS, OTHER_SCRIPT, SPECIAL, WORD, UNDECIDED = (
    "stop-word", "punctuation", "name", "piece", "digits", "other script", "special token", "word", "word or name",
)  # fmt: skip
CONTINUES, BEGINS = "##", ("Ġ", "▁")
SAMPLED = 2000  # terms that say which script a vocabulary is of
NAME_SHARE = 0.8  # of a name's occurrences are capitalised
FEWEST = 3  # occurrences that decide

_SPECIAL = re.compile(r"\[.+\]|<.+>")
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = (".", "!", "?", ":", ";", "\n", '"', "'", "(", "•", "-", "*")  # what may stand before a capital of its own


class Written(NamedTuple):
    """How often a word stands inside sentences, and how often with a capital."""

    inside: int
    capital: int


def count_capitals(words: Collection[str], texts: Iterable[str]) -> dict[str, Written]:
    """How the lower-case `words` are written in raw texts."""
    wanted, inside, capital = set(words), Counter[str](), Counter[str]()
    for text in texts if wanted else ():
        for match in _WORD.finditer(text):
            word = match[0].lower()
            if word in wanted and not text[: match.start()].rstrip(" ").endswith(_ENDS) and match.start() > 0:
                inside[word] += 1
                # A word all in capitals is an acronym or a headline as often as a name: it decides nothing.
                capital[word] += match[0][0].isupper() and not (len(word) > 1 and match[0].isupper())
    return {word: Written(inside[word], capital[word]) for word in wanted}


def bare(term: str, terms_begin_with_a_mark: bool) -> tuple[str, bool]:
    """(a term without its tokenizer's mark, whether it continues a word)."""
    if term.startswith(CONTINUES) and len(term) > len(CONTINUES):
        return term[len(CONTINUES) :], True
    if terms_begin_with_a_mark:
        return (term[1:], False) if term.startswith(BEGINS) else (term, True)
    return term, False


def begins_with_marks(terms: Sequence[str]) -> bool:
    """Whether a vocabulary marks what begins a word, as byte-level tokenizers do."""
    return any(term.startswith(BEGINS) and len(term) > 1 for term in terms[: 10 * SAMPLED])


def main_script(terms: Sequence[str]) -> str:
    """The script of most terms of a vocabulary."""
    step = max(1, len(terms) // SAMPLED)
    found = Counter(script for place in range(0, len(terms), step) if (script := script_of(terms[place])))
    return found.most_common(1)[0][0] if found else ""


def script_of(text: str) -> str:
    """The script of the first letter: LATIN, CYRILLIC, HANGUL, ...; empty where there is none."""
    letter = next((char for char in text if char.isalpha()), "")
    return unicodedata.name(letter, "").partition(" ")[0] if letter else ""


def kind_of(
    term: str, marked: bool, script: str, stopwords: Collection[str], written: Mapping[str, Written]
) -> str:  # fmt: skip
    """The kind of a term of a vocabulary: whether it is `marked` (`begins_with_marks`), its main `script`, and how its
    words are `written`, as far as that was counted."""
    text, continues = bare(term, marked)
    if _SPECIAL.fullmatch(term):
        return SPECIAL
    if not any(char.isalnum() for char in text):
        return PUNCTUATION
    if all(char.isnumeric() for char in text if char.isalnum()):
        return DIGITS
    if script_of(text) and script_of(text) != script:
        return OTHER_SCRIPT
    if continues:
        return PIECE
    if text.lower() in stopwords:
        return STOP_WORD
    found = written.get(text.lower(), Written(0, 0))
    if found.inside < FEWEST:
        return UNDECIDED
    return NAME if found.capital >= NAME_SHARE * found.inside else WORD
