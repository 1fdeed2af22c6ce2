"""What every reader of texts gives, whichever way it cuts them: subwords with their terms, and the terms counted."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Vocabulary
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.words import SpannedText, normalised_utf8


class TextReader(Protocol):
    vocabulary: Vocabulary

    def read(self, texts: Sequence[str], length: int) -> AlignedTexts:
        """Texts cut to `length` subwords with their special tokens."""
        ...

    def read_bags(self, texts: Sequence[str]) -> TermBags:
        """The terms of whole texts, counted."""
        ...

    def read_both(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags]:
        """`read` and `read_bags` in one pass over the text."""
        ...

    def read_measured(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags, NDArray[np.int64]]:
        """`read_both`, and how many subwords each whole text has, special ones not counted."""
        ...

    def distinct_terms(self, text: str) -> NDArray[np.int32]:
        """The terms of one whole text, ascending: those of `read_bags`, without their counts."""
        ...

    def spans(self, text: str) -> SpannedText:
        """Where the words lie whose places `read` gives."""
        ...


def first_places(reader: TextReader, text: str) -> dict[int, int]:
    """Of each term that a whole text holds, the place of the word where it comes first."""
    whole = reader.read([text], 2 * len(normalised_utf8(text)) + 8)  # no tokenizer makes more of it
    found: dict[int, int] = {}
    for term, place in zip(whole.terms.tolist(), whole.words.tolist(), strict=True):
        if term >= 0:
            found.setdefault(term, place)
    return found
