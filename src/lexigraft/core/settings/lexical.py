"""BM25 and its words."""

from dataclasses import dataclass, replace
from typing import Self

from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.languages import ENGLISH, OF_COLLECTION, STOPWORDS, stopwords_beside
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class LexicalSettings(Section, name="lexical"):
    """BM25 and its words."""

    k1: float = setting(
        1.2, "BM25's saturation: how much more a word counts that comes again", at_least=0, zero="not at all"
    )
    b: float = setting(
        0.75, "BM25's length normalisation: from 0, none, to 1, in proportion to the length", at_least=0, at_most=1
    )
    stopwords: str = setting(AUTO, "words that are left out", one_of=STOPWORDS)
    stemmer: str = setting(
        AUTO, 'words of one stem are one term: any Snowball language, or `"none"`', auto=OF_COLLECTION
    )

    def decided(self) -> Self:
        """The same with what "auto" means, as artifacts and their recipes say it. A stemmer that no collection decided
        (`vectors.deciding_words`) is English."""
        stemmer = ENGLISH if self.stemmer == AUTO else self.stemmer
        return replace(self, stemmer=stemmer, stopwords=stopwords_beside(stemmer, self.stopwords))
