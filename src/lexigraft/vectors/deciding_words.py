"""How the texts of a collection are read, where the settings leave that to the collection: by its first documents,
once, before anything is made of them. What is made says what was decided, and whoever adds to it keeps that."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TypeVar

from lexigraft.core.settings import AUTO, LexicalSettings, Settings, VocabSettings
from lexigraft.core.types import Document
from lexigraft.vocab.camel_case import SAMPLED_CHARACTERS, SAMPLED_DOCUMENTS, is_code
from lexigraft.vocab.language import Guess, guess_language

Stemmed = TypeVar("Stemmed", LexicalSettings, VocabSettings)
LEXICAL, VOCAB = "lexical", "vocab"  # the sections that say how words are stemmed

log = logging.getLogger(__name__)


def decide_words(
    settings: Settings, documents: Iterable[Document], sections: Sequence[str] = (LEXICAL, VOCAB)
) -> Settings:
    """`settings` with `words.camel_case` on or off, and in `sections` the stemmer and stop-words of a language: as they
    are set, else by the first documents of the collection. What was guessed is said in one line."""
    words = settings.words
    guessed = [name for name in sections if getattr(settings, name).stemmer == AUTO]
    if words.camel_case != AUTO and not guessed:
        return settings
    texts = [document.contents[:SAMPLED_CHARACTERS] for document in islice(documents, SAMPLED_DOCUMENTS)]
    if words.camel_case == AUTO:
        settings = replace(settings, words=replace(words, camel_case="on" if is_code(texts) else "off"))
    if guessed:
        guess = guess_language(texts)
        log.info("%s; set %s to choose another", guess.line, " and ".join(f"{name}.stemmer" for name in guessed))
        settings = replace(settings, **{name: _as_guessed(getattr(settings, name), guess) for name in guessed})
    return settings


def decide_by_stream(
    settings: Settings, documents: Iterable[Document], sections: Sequence[str] = (LEXICAL, VOCAB)
) -> tuple[Settings, Iterator[Document]]:
    """`decide_words` of documents that can be read only once, and all of them again."""
    stream = iter(documents)
    first = list(islice(stream, SAMPLED_DOCUMENTS))
    return decide_words(settings, first, sections), chain(first, stream)


def _as_guessed(section: Stemmed, guess: Guess) -> Stemmed:
    stopwords = guess.stopwords if section.stopwords == AUTO else section.stopwords
    return replace(section, stemmer=guess.stemmer, stopwords=stopwords)
