"""From words to what terms are told apart by: stop-words left out, the rest stemmed. BM25 and models share it."""

from collections.abc import Callable
from functools import cached_property

from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.vocab.accents import fold_accents
from lexigraft.vocab.stems import NO_STEMMER, own_letters, stemmer
from lexigraft.vocab.stopwords import NO_STOPWORDS, stopwords
from lexigraft.vocab.words import WordCutter


class TermRule:
    """The word rule, stop-words and a stemmer together.

    A stemmer knows the letters of its language, so those reach it with their accents and are folded afterwards; all
    other letters are folded before. `section` is that of the settings, for messages.
    """

    def __init__(
        self,
        stemming: str = NO_STEMMER,
        stopping: str = NO_STOPWORDS,
        rule: WordRule = FORMER_RULE,
        section: str = "vocab",
    ) -> None:
        self.cutter = WordCutter(rule, own_letters(stemming))
        self._stemming, self._section = stemming, section
        # A list is read as texts are; what is no single word by the rule can be no word of a text.
        read = map(self.cutter.split_words, stopwords(stopping, f"{section}.stopwords"))
        self.stopwords = frozenset(words[0] for words in read if len(words) == 1)

    @cached_property
    def stem(self) -> Callable[[str], str]:
        """What a word of the cutter has in common with others of its term."""
        stem = stemmer(self._stemming, f"{self._section}.stemmer")
        if not (self.cutter.rule.fold_accents and self.cutter.kept):
            return stem
        return lambda word: fold_accents(stem(word))
