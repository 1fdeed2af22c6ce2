"""Raw texts as a backbone's own tokenizer reads them, and nothing beside: for encoders whose vectors have no terms."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from lexigraft.inference.reading import ReadTexts
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.bags import WeightedBags
from lexigraft.vocab.raw_reader import clean_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class RawTextReader:
    """Reads by `raw`, whose truncation and padding are its own state: one thread at a time."""

    def __init__(self, raw: "Tokenizer") -> None:
        self._raw, self._lock = raw, Lock()

    def read(self, texts: Sequence[str], length: int) -> ReadTexts:
        """The beginning of each text between the special tokens that the tokenizer adds, `length` subwords together.
        There are no terms."""
        clean = [clean_text(text) for text in texts]
        with self._lock:
            self._raw.no_padding()
            self._raw.enable_truncation(length)
            found = [encoding.ids for encoding in self._raw.encode_batch(clean)]
        indptr = np.cumsum([0, *map(len, found)], dtype=np.int64)
        subwords = np.concatenate([np.zeros(0, np.int32), *(np.array(ids, np.int32) for ids in found)])
        nothing = np.zeros(len(subwords), np.int32)
        no_terms = WeightedBags(np.zeros(len(texts) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
        return ReadTexts(AlignedTexts(indptr, subwords, nothing, nothing), no_terms)
