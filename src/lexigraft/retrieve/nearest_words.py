"""Words of a collection that a word which it does not have may have been meant for."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.encoder_description import BM25_KINDS
from lexigraft.retrieve.matched_words import WordMatcher
from lexigraft.retrieve.opened import Opened
from lexigraft.vocab.nearest_terms import NearTerms
from lexigraft.vocab.stems import NO_STEMMER
from lexigraft.vocab.words import normalise

ENDING = 3  # letters that a stem may have lost
STEMS = 10  # whose words are looked at
READ = 3  # documents of a stem in which its words are looked for


class NearestWords:
    """Of the index that is open. Its terms are laid out once, for all who ask."""

    def __init__(self, state: Opened) -> None:
        description = state.index.query_encoder
        self._state, self._terms = state, [*state.index.vocabulary.id_of]
        self._near = NearTerms(self._terms)
        counted = state.index.frequencies  # of the documents that live, where these are counted
        self._held_by = postings_of(state) if counted is None else counted.document_frequency
        self._is_stemmed = description.get("kind") in BM25_KINDS and description.get("stemmer") != NO_STEMMER

    def of(self, word: str, most: int) -> list[str]:
        """At most so many, the likeliest first. Where terms are stems, words are read in documents that hold them: a
        stem is no word to show."""
        asked = normalise(word)
        if not self._is_stemmed:
            return [self._terms[term] for term in self._near.likeliest(asked, self._held_by, most)]
        forms = {
            form: int(self._held_by[term])
            for term in self._near.likeliest(asked, self._held_by, STEMS, ENDING)
            for form in _forms(self._state, term)
        }
        names = list(forms)
        found = NearTerms(names).likeliest(asked, np.array(list(forms.values()), np.int64), most)
        return [names[at] for at in found]


def postings_of(state: Opened) -> Int64s:
    """How many documents hold each term, over all segments."""
    total = np.zeros(len(state.index.vocabulary), np.int64)
    for segment in state.index.segments:
        lengths = segment.index.document_frequency[: len(total)]
        total[: len(lengths)] += lengths
    return total


def _forms(state: Opened, term: int) -> set[str]:
    """The words that stand for a term in some documents that hold most of it, or in what is shown for these."""
    row: tuple[NDArray[np.int32], NDArray[np.float32]] = np.array([term], np.int32), np.ones(1, np.float32)
    matcher = WordMatcher([term], state.words)
    return {normalise(text[word.start : word.end]) for text in _texts(state, row) for word in matcher.find(text)}


def _texts(state: Opened, row: tuple[NDArray[np.int32], NDArray[np.float32]]) -> Iterator[str]:
    for place in state.searcher(0.0, 0).search_places(*row, READ, None, None):
        kept = state.text_of(place.segment.index, place.ordinal)
        yield place.title if kept is None else kept.contents
