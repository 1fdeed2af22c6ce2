"""The expanded vocabulary: the terms of the learned model."""

from dataclasses import dataclass, replace
from typing import Self

from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.languages import ENGLISH, OF_COLLECTION, STOPWORDS, stopwords_beside
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class VocabSettings(Section, name="vocab"):
    """The learned model's terms: the most frequent ones of the documents and training queries."""

    source: str = setting(
        "",
        "where the vocabulary's words are counted: a collection or texts, given as `--data` is; or a vocabulary of "
        "`lexigraft vocab unigrams`, which is taken as it is",
        empty="the collection's own documents and training queries",
    )
    size: int = setting(
        20_000, "how many terms, the most frequent", at_least=0, zero="all that occur `vocab.min_count` times"
    )
    min_count: int = setting(2, "how often a term must occur", at_least=1)
    stemmer: str = setting(
        AUTO,
        "words of one stem (any Snowball language) are one term, named by the most frequent of them; "
        '`"none"`: each word is a term',
        auto=OF_COLLECTION,
    )
    stopwords: str = setting(
        AUTO,
        "words that are no terms; the model reads them and takes no term from them",
        one_of=STOPWORDS,
    )

    def decided(self) -> Self:
        """The same with what "auto" means, as artifacts and their recipes say it. A stemmer that no collection decided
        (`vectors.deciding_words`) is English."""
        stemmer = ENGLISH if self.stemmer == AUTO else self.stemmer
        return replace(self, stemmer=stemmer, stopwords=stopwords_beside(stemmer, self.stopwords))
