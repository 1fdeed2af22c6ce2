"""Vectors of documents without an encoder: near where texts share words. What tests of whole runs give, so that the
graft is among what they check and thousands of texts need not be encoded for it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexigraft.core.types import Document

WIDTH = 64


def write_vectors_of_words(documents: Sequence[Document], file: Path) -> str:
    """The setting that names `file`, an .npz into which a row is written for each document: the sum of its distinct
    words' random directions, rare words in full and usual ones for less."""
    words = [sorted(set(document.contents.split())) for document in documents]
    frequency: dict[str, int] = {}
    for some in words:
        for word in some:
            frequency[word] = frequency.get(word, 0) + 1
    directions = np.random.default_rng(0).normal(size=(len(frequency), WIDTH))
    rarity = np.log(1 + len(documents) / np.array([*frequency.values()]))
    of_word = dict(zip(frequency, directions * rarity[:, None], strict=True))
    vectors = np.array([sum(of_word[word] for word in some) for some in words], np.float32)
    np.savez(file, ids=[document.doc_id for document in documents], vectors=vectors)
    return f"grafted.vectors={file}"
