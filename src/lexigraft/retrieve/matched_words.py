"""Where a text holds the words by which it was found."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from lexigraft.vocab.words import places_of_words

LONGEST_REMEMBERED = 64  # characters; longer pieces of text seldom come again
MOST_REMEMBERED = 1 << 16  # pieces: some twenty mebibytes
# No word goes across white space, nor from anything before into a Chinese character or a Hiragana: pieces end there.
_SIGN = "\u3041-\u3096\u4e00-\u9fff"
_PIECE = re.compile(rf"[{_SIGN}][^\s{_SIGN}]*|[^\s{_SIGN}]+")


class MatchedWord(NamedTuple):
    """A word of a text from `start` to `end`, and the terms of the query that it stands for."""

    start: int
    end: int
    terms: tuple[int, ...]


class WordReader:
    """What the words in pieces of texts stand for. Short pieces are remembered: those of texts that are shown come
    again and again, and the rule of words and the stemmer cost more than all the rest."""

    def __init__(self, terms_of: Callable[[str], Iterable[int]]) -> None:
        self._terms_of = terms_of  # of one word
        self._known: dict[str, tuple[MatchedWord, ...]] = {}

    def words(self, piece: str) -> tuple[MatchedWord, ...]:
        """The words of a piece that stand for any term."""
        words = self._known.get(piece)
        if words is None:
            words = tuple(self._cut(piece))
            if len(piece) <= LONGEST_REMEMBERED:
                if len(self._known) >= MOST_REMEMBERED:
                    self._known = {}
                self._known[piece] = words
        return words

    def read(self, text: str) -> None:
        """Remember the words of a text: who shows one that is like it then waits less."""
        for piece in _PIECE.findall(text):
            self.words(piece)

    def _cut(self, piece: str) -> Iterator[MatchedWord]:
        for start, end in places_of_words(piece):
            if terms := tuple(self._terms_of(piece[start:end])):
                yield MatchedWord(start, end, terms)


class WordMatcher:
    """Finds the words of texts that stand for one of `terms`. Texts are cut where no word can go across, so that each
    distinct piece is looked at once."""

    def __init__(self, terms: Iterable[int], reader: WordReader) -> None:
        self._terms, self._reader = frozenset(terms), reader
        self._known: dict[str, tuple[MatchedWord, ...]] = {}

    def find(self, text: str) -> list[MatchedWord]:
        """The words that match, in order, each with those of the terms that it stands for."""
        found: list[MatchedWord] = []
        for piece in _PIECE.finditer(text):
            string = piece[0]
            words = self._known.get(string)
            if words is None:
                words = self._known[string] = tuple(self._matching(string))
            if words:
                at = piece.start()
                found += [MatchedWord(at + word.start, at + word.end, word.terms) for word in words]
        return found

    def _matching(self, piece: str) -> Iterator[MatchedWord]:
        for word in self._reader.words(piece):
            if not self._terms.isdisjoint(word.terms):
                yield word._replace(terms=tuple(term for term in word.terms if term in self._terms))
