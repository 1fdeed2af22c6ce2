"""Queries of terms by their names, for indexes whose encoder of queries is not known: `car^3 engine` has the term `car`
with weight 3 and `engine` with 1."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary

KIND = "terms"
LARGEST = 1e30

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class TermQueries:
    """Terms stand between white space. One that comes again adds up; one that the vocabulary lacks is dropped."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._id_of = vocabulary.id_of

    def encode(self, text: str) -> Row:
        weights = self._weights(text)
        ids = sorted(weights)
        return np.array(ids, np.int32), np.array([weights[term] for term in ids], np.float32)

    def encode_all(self, texts: list[str]) -> list[Row]:
        return [self.encode(text) for text in texts]

    def own_terms(self, text: str) -> NDArray[np.int32]:
        return np.array(sorted(self._weights(text)), np.int32)

    def _weights(self, text: str) -> dict[int, float]:
        weights: dict[int, float] = {}
        for word in text.split():
            name, number = self._parted(word)
            if (term := self._id_of.get(name)) is not None:
                weights[term] = weights.get(term, 0.0) + _weight_in(word, number)
        return weights

    def _parted(self, word: str) -> tuple[str, float]:
        """A term and its number. What is a term as it stands has none, whatever it looks like."""
        name, mark, number = word.rpartition("^")
        if not mark or word in self._id_of:
            return word, 1.0
        try:
            return name, float(number)
        except ValueError:
            return word, 1.0


def _weight_in(word: str, number: float) -> float:
    """The number, which must be a weight; those of sums of many stay finite, too."""
    if not 0 < number <= LARGEST:
        raise InputError(f"the query has {word!r}: a weight is a number above 0 and up to {LARGEST:g}, as in car^3")
    return number
