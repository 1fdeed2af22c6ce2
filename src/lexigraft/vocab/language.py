"""Which language texts are in, and so which stemmer and stop-words are theirs.

Google's CLD2 (package `pycld2`, Apache 2) tells by runs of four letters, so titles without a single article have a
language as well; where it is not sure, nor is this, and such texts are read as English. It also says how much of a text
is in which language. Of several the one with most text is taken: measured on package descriptions in German and English
of all shares, its stemmer is better than none for either. docs/explanation/words.md has how often the guess is right.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

from lexigraft.core.settings.languages import ENGLISH, LANGUAGES, NONE

MOST_CHARACTERS = 400_000  # that are looked at, of all texts the same length
PIECE = 80  # characters, of which CLD2 is asked at a time, or more
FEWEST_BYTES = 15  # of letters: a sign of Korean or Chinese has three, and says as much as three letters
TOLD = 0.5  # of the text, in languages that are known
WORTH_SAYING = 0.1  # of the text, in another language
UNKNOWN = "un"
# Malay has no stemmer, is taken for Indonesian in short texts and the other way round, and has the same affixes.
SAME = {"norwegian_n": "norwegian", "chineset": "chinese", "malay": "indonesian"}
_NOT_TEXT = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}]+")  # which CLD2 refuses


@dataclass(frozen=True)
class Guess:
    """`language` is None where it is not sure. `because`: what it goes by. `mixed`: others have their part, too."""

    language: str | None
    because: str
    mixed: bool = False

    @property
    def sure(self) -> bool:
        return self.language is not None

    @property
    def stemmer(self) -> str:
        """Snowball's for the language; without one, none; where nothing is sure, English."""
        if not self.sure:
            return ENGLISH
        return self.language if self.language in (ENGLISH, *LANGUAGES) else NONE

    @property
    def stopwords(self) -> str:
        """The list of the same language."""
        return self.stemmer

    @property
    def line(self) -> str:
        """What was guessed, by what, and what follows of it."""
        name = f"{'mostly ' if self.mixed else ''}{self.language.title()}" if self.language else "unsure"
        reading = "no stemmer" if self.stemmer == NONE else f"stemmer {self.stemmer}"
        return f"language: {name} ({self.because}): {reading}, stop-words {self.stopwords}"


def guess_language(texts: Iterable[str]) -> Guess:
    """The language of the texts of one collection, by their beginnings."""
    given = list(texts)
    most = MOST_CHARACTERS // max(1, len(given))
    pieces = list(_pieces(_NOT_TEXT.sub(" ", one[:most]) for one in given))
    letters = "".join(filter(str.isalpha, "".join(pieces)))
    n_letters = len(letters)
    if len(letters.encode()) < FEWEST_BYTES:
        return Guess(None, f"{n_letters} letters are too few to tell")
    try:
        found = _shares(pieces)
        if sum(found.values()) < TOLD:
            found = _shares(["\n".join(pieces)])  # each says too little by itself
    except ImportError:  # there is not a wheel for every machine
        return Guess(None, "to tell it needs: pip install pycld2")
    if sum(found.values()) < TOLD:
        return Guess(None, f"{n_letters:,} letters do not tell")
    best, *others = sorted(found, key=lambda language: -found[language])
    named = [language for language in others if found[language] >= WORTH_SAYING]
    also = "".join(f", {language.title()} {found[language]:.0%}" for language in named)
    return Guess(best, f"{found[best]:.0%} of {n_letters:,} letters{also}", mixed=bool(named))


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """The texts, short ones together: one of a few words says too little, and where languages meet within one, the
    library gives a part of the one to the other."""
    piece = ""
    for text in texts:
        piece = f"{piece}\n{text}" if piece else text
        if len(piece) >= PIECE:
            yield piece
            piece = ""
    if piece:
        yield piece


def _shares(pieces: Iterable[str]) -> dict[str, float]:
    """By language the share of the letters of all pieces."""
    import pycld2

    found, total = Counter[str](), 0
    for piece in pieces:
        total += (n_letters := sum(map(str.isalpha, piece)))
        for name, code, percent, _ in pycld2.detect(piece, isPlainText=True)[2]:
            if code != UNKNOWN:
                found[SAME.get(name.lower(), name.lower())] += percent * n_letters
    return {language: count / (100 * total) for language, count in found.items() if count}
