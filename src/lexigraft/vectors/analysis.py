"""From words to lexical terms: stop-words dropped, the rest stemmed. Shared by documents and queries."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from lexigraft.core.settings import LexicalSettings
from lexigraft.core.word_rule import ENTRY, WordRule, rule_in
from lexigraft.vocab.terms import TermRule

USUAL_RULE = WordRule()


class Reading(NamedTuple):
    """How BM25 reads and weighs texts."""

    settings: LexicalSettings
    rule: WordRule


def described(kind: str, settings: LexicalSettings, rule: WordRule) -> dict[str, Any]:
    """What an index or vectors of BM25 say of the encoder that their queries need."""
    return {"kind": kind, **asdict(settings.decided()), **rule.entry}


def reading_in(description: Mapping[str, Any]) -> Reading:
    """What `described` said; an artifact of before there was a choice of rules says nothing of that."""
    named = {name: value for name, value in description.items() if name not in ("kind", ENTRY)}
    return Reading(LexicalSettings(**named).decided(), rule_in(description))


class Analyser:
    """Turns text into the terms of `LexicalSettings`, cut into words by `rule`."""

    def __init__(self, settings: LexicalSettings, rule: WordRule = USUAL_RULE) -> None:
        settings = settings.decided()
        self._rule = TermRule(settings.stemmer, settings.stopwords, rule, "lexical")
        self.cutter = self._rule.cutter

    def terms(self, text: str) -> list[str]:
        """The terms of any text, in order."""
        return self._keep(self.cutter.split_words(text))

    def terms_of_piece(self, piece: bytes) -> list[str]:
        """The terms of one piece of the cutter."""
        return self._keep(self.cutter.words_of_piece(piece))

    def term(self, word: str) -> str | None:
        """What one normalised word becomes; None for a stop-word."""
        return next(iter(self._keep([self.cutter.fold(word)])), None)

    def _keep(self, words: list[str]) -> list[str]:
        stem, stopped = self._rule.stem, self._rule.stopwords
        return [stem(word) for word in words if word not in stopped]
