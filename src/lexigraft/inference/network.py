"""What every form of a trained model can do, in torch or without it: write texts as terms, and say where a term came
from."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.inference.meta import EncoderMeta
from lexigraft.inference.reading import ReadTexts
from lexigraft.vocab.reader import TextReader
from lexigraft.vocab.subwords import SpecialTokens

SMALLEST_WEIGHT = 1e-4  # what weighs no more is no term of a text
OWN_WORD, WHOLE_TEXT, NOTHING = -1, -2, -3  # instead of a token's position


class Rows(NamedTuple):
    """Text i has the terms terms[indptr[i]:indptr[i + 1]], ascending, of these weights."""

    indptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


class Network(Protocol):
    """A trained model that was opened."""

    @property
    def meta(self) -> EncoderMeta:
        """What the model says of itself."""
        ...

    @property
    def reader(self) -> TextReader:
        """Reads texts as the model was trained to read them."""
        ...

    @property
    def n_readers(self) -> int:
        """How many processes should read texts for it while it writes others; 0: this one does both in turns."""
        ...

    def begin(self, read: ReadTexts, are_queries: bool) -> Callable[[], Rows]:
        """`write`, begun where a device works by itself: what is returned waits for the rows."""
        ...

    def write(self, read: ReadTexts, are_queries: bool) -> Rows:
        """All terms of each text, with weights above SMALLEST_WEIGHT."""
        ...

    def positions(self, read: ReadTexts, terms: NDArray[np.int32]) -> NDArray[np.int32]:
        """Of the one text that was read, the position of the token that produced each of `terms`; OWN_WORD, WHOLE_TEXT
        or, of a weight of 0, NOTHING."""
        ...

    @property
    def special(self) -> SpecialTokens:
        """The tokenizer's special tokens."""
        ...

    @property
    def not_terms(self) -> frozenset[int]:
        """The subwords that are never terms: all special ones."""
        ...

    def subword(self, number: int) -> str:
        """How the tokenizer calls a subword."""
        ...
