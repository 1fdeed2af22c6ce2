"""From words to lexical terms: stop-words dropped, the rest stemmed. Shared by documents and queries."""

from collections.abc import Callable
from functools import cached_property

from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.core.settings import LexicalSettings
from lexigraft.vocab.words import split_words, words_of_piece

# Lucene's classic English list, the one BM25 baselines are usually reported with.
ENGLISH_STOPWORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such "
    "that the their then there these they this to was will with".split()
)


class Analyser:
    """Turns text into the terms of `LexicalSettings`."""

    def __init__(self, settings: LexicalSettings) -> None:
        self.settings = settings
        self._stopwords = ENGLISH_STOPWORDS if settings.stopwords == "english" else frozenset()

    def terms(self, text: str) -> list[str]:
        """The terms of any text, in order."""
        return self._keep(split_words(text))

    def terms_of_piece(self, piece: bytes) -> list[str]:
        """The terms of one piece of `words.split_pieces`."""
        return self._keep(words_of_piece(piece))

    def _keep(self, words: list[str]) -> list[str]:
        return [self._stem(word) for word in words if word not in self._stopwords]

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        language = self.settings.stemmer
        if language == "none":
            return str
        try:
            import Stemmer
        except ImportError as error:
            raise MissingExtraError(
                f"lexical.stemmer = {language!r}", "PyStemmer", "pip install PyStemmer, or set lexical.stemmer=none"
            ) from error
        if language not in Stemmer.algorithms():
            known = ", ".join(Stemmer.algorithms())
            raise SettingError(f"lexical.stemmer = {language!r} is not allowed: none, or one of {known}")
        # Its own cache is slower than none: whoever reads much asks once per distinct piece anyway.
        stem_word: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
        return stem_word
