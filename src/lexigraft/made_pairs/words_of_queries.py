"""Queries of a few words out of a text: crops, which are windows of it, and keywords, those of highest weight in their
order."""

import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from lexigraft.vocab.stopwords import ENGLISH
from lexigraft.vocab.words import split_pieces, words_of_piece

CROP_WORDS = (4, 12)
KEYWORDS = (2, 5)
COMMON = 0.5  # of the documents: a word in more of them says nothing, in whatever language
_TOKEN = re.compile(r"\S+")


class WordUse(NamedTuple):
    """In how many of `n_documents` each word is."""

    n_documents: int
    document_frequency: Mapping[str, int]

    def says_something(self, word: str) -> bool:
        """Whether a word tells documents apart: no stop-word, and not in most documents."""
        return word not in ENGLISH and self.document_frequency.get(word, 0) <= COMMON * self.n_documents

    def idf(self, word: str) -> float:
        """ln(N / df); a word that no document has counts as one that a single document has."""
        return math.log(max(1, self.n_documents) / max(1, self.document_frequency.get(word, 1)))


@lru_cache(maxsize=1 << 16)
def _words_of_piece(piece: bytes) -> tuple[str, ...]:
    return tuple(words_of_piece(piece))


def split_words(text: str) -> list[str]:
    """The words of a text by the usual rule, each distinct piece of it looked at once: texts are read several times."""
    return [word for piece in split_pieces(text) for word in _words_of_piece(piece)]


def content_words(text: str, use: WordUse) -> list[str]:
    """The words of a text that say something, in order, each once."""
    return [word for word in dict.fromkeys(split_words(text)) if use.says_something(word)]


def crop(text: str, chance: random.Random) -> str:
    """A window of 4 to 12 words of a text, or all of one that is shorter."""
    places = [match.span() for match in _TOKEN.finditer(text)]
    if not places:
        return ""
    length = min(chance.randint(*CROP_WORDS), len(places))
    first = chance.randint(0, len(places) - length)
    return " ".join(text[places[first][0] : places[first + length - 1][1]].split())


def keywords(
    text: str, use: WordUse, chance: random.Random, how_many: tuple[int, int] = KEYWORDS, beside: str = ""
) -> str:
    """The 2 to 5 words of a text with the highest tf * IDF, in the text's order; equal ones by their place. Words of a
    single document and numbers are left out: nobody asks for them, and one alone would find its document. So are those
    of `beside`."""
    counts, left_out = Counter(split_words(text)), frozenset(split_words(beside))
    distinct = [word for word in counts if word not in left_out and _is_asked_for(word, use)]
    ranked = sorted(range(len(distinct)), key=lambda place: -counts[distinct[place]] * use.idf(distinct[place]))
    return " ".join(distinct[place] for place in sorted(ranked[: chance.randint(*how_many)]))


def _is_asked_for(word: str, use: WordUse) -> bool:
    several = use.document_frequency.get(word, 0) > 1
    return several and use.says_something(word) and not any(character.isdigit() for character in word)
