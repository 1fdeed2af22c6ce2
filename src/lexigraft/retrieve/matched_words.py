"""Where a text holds the words by which it was found."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from lexigraft.vocab.words import places_of_words

LONGEST_REMEMBERED = 64  # characters; longer pieces of text seldom come again
_PIECE = re.compile(r"\S+")


class MatchedWord(NamedTuple):
    """A word of a text from `start` to `end`, and the terms of the query that it stands for."""

    start: int
    end: int
    terms: tuple[int, ...]


class WordMatcher:
    """Finds the words of texts that stand for one of `terms`. A text is cut at white space first, which no word goes
    across, so that the rule of words and `terms_of`, which says what one word stands for, are asked once for each
    distinct piece."""

    def __init__(self, terms: Collection[int], terms_of: Callable[[str], Sequence[int]]) -> None:
        self._terms, self._terms_of = frozenset(terms), terms_of
        self._known: dict[str, tuple[MatchedWord, ...]] = {}

    def find(self, text: str) -> list[MatchedWord]:
        """The words that match, in order."""
        found = []
        for piece in _PIECE.finditer(text):
            string = piece[0]
            words = self._known.get(string)
            if words is None:
                words = tuple(self._words(string))
                if len(string) <= LONGEST_REMEMBERED:
                    self._known[string] = words
            if words:
                at = piece.start()
                found += [MatchedWord(at + word.start, at + word.end, word.terms) for word in words]
        return found

    def _words(self, piece: str) -> list[MatchedWord]:
        cut = ((start, end, self._terms_of(piece[start:end])) for start, end in places_of_words(piece))
        meant = [MatchedWord(start, end, tuple(sorted(self._terms.intersection(of)))) for start, end, of in cut]
        return [word for word in meant if word.terms]
