"""Texts as a model reads them: the beginning of each as subwords, and the terms of the whole of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.inference.meta import ALL_TOKENS, EncoderMeta
from lexigraft.vocab.aligned import NOT_POOLED, AlignedTexts, Extent, ordinary_subwords
from lexigraft.vocab.bags import WeightedBags, document_weights, query_weights
from lexigraft.vocab.expansions import read_expanded
from lexigraft.vocab.reader import TextReader


class ReadTexts(NamedTuple):
    """Texts as they were read; of documents that were read just now, `extent` says how much of them that is."""

    aligned: AlignedTexts
    bags: WeightedBags
    extent: Extent | None = None

    def __len__(self) -> int:
        return len(self.aligned)


def read_documents(meta: EncoderMeta, reader: TextReader, texts: Sequence[str], length: int) -> ReadTexts:
    """The beginnings of documents and, where the model reads expansions, of their expansions (`vocab.expansions`)."""
    if most := meta.expansion_length:
        aligned, bags, extent = read_expanded(reader, texts, length, most)
    else:
        aligned, bags, whole = reader.read_measured(texts, length)
        extent = Extent(ordinary_subwords(aligned), whole)
    return ReadTexts(aligned, document_weights(bags, meta.mean_words), extent)


def read_queries(reader: TextReader, texts: Sequence[str], length: int) -> ReadTexts:
    aligned, bags = reader.read_both(texts, length)
    return ReadTexts(aligned, query_weights(bags))


def pooled_tokens(texts: AlignedTexts, pooled: str) -> NDArray[np.bool_]:
    """Which tokens of texts are pooled: all, or those of words. Stop-words and special tokens are then not, unless a
    text has no other word; of a text without words nothing is, and its vector is empty."""
    if pooled == ALL_TOKENS:
        return np.ones(len(texts.subwords), np.bool_)
    text_of = np.repeat(np.arange(len(texts)), np.diff(texts.indptr))
    said: NDArray[np.bool_] = texts.terms != NOT_POOLED

    def has_some(tokens: NDArray[np.bool_]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.bincount(text_of[tokens], minlength=len(texts)) > 0
        return found[text_of]

    kept: NDArray[np.bool_] = np.where(has_some(said), said, True) & has_some(texts.words >= 0)
    return kept
