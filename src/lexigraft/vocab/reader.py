"""What every reader of texts gives, whichever way it cuts them: subwords with their terms, and the terms counted."""

from collections.abc import Sequence
from typing import Protocol

from lexigraft.core.types import Vocabulary
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.words import SpannedText


class TextReader(Protocol):
    vocabulary: Vocabulary

    def read(self, texts: Sequence[str], length: int) -> AlignedTexts:
        """Texts cut to `length` subwords with their special tokens."""
        ...

    def read_bags(self, texts: Sequence[str]) -> TermBags:
        """The terms of whole texts, counted."""
        ...

    def read_both(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags]:
        """Both in one pass over the text."""
        ...

    def spans(self, text: str) -> SpannedText:
        """Where the words lie whose places `read` gives."""
        ...
