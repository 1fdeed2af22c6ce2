"""From words to lexical terms: stop-words dropped, the rest stemmed. Shared by documents and queries."""

from collections.abc import Callable
from functools import cached_property

from lexigraft.core.settings import LexicalSettings
from lexigraft.vocab.stems import stemmer
from lexigraft.vocab.stopwords import stopwords
from lexigraft.vocab.words import split_words, words_of_piece


class Analyser:
    """Turns text into the terms of `LexicalSettings`."""

    def __init__(self, settings: LexicalSettings) -> None:
        self.settings = settings
        self._stopwords = stopwords(settings.stopwords)

    def terms(self, text: str) -> list[str]:
        """The terms of any text, in order."""
        return self._keep(split_words(text))

    def terms_of_piece(self, piece: bytes) -> list[str]:
        """The terms of one piece of `words.split_pieces`."""
        return self._keep(words_of_piece(piece))

    def term(self, word: str) -> str | None:
        """What one word becomes; None for a stop-word."""
        return next(iter(self._keep([word])), None)

    def _keep(self, words: list[str]) -> list[str]:
        return [self._stem(word) for word in words if word not in self._stopwords]

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        return stemmer(self.settings.stemmer, "lexical.stemmer")
