"""Segments of one live index of BM25 brought to one vocabulary.

New words get numbers after the known ones, so the vocabulary of every segment is the beginning of the longest one, and
an older segment only lacks the lists of later words: they are empty.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexigraft.core.types import Vocabulary
from lexigraft.index.inverted import Index


def longest_vocabulary(indexes: Sequence[Index]) -> tuple[Vocabulary, str]:
    """The vocabulary that the others are beginnings of, and its fingerprint."""
    longest = max(indexes, key=lambda index: index.n_terms)
    return longest.vocabulary, longest.meta.vocab_fingerprint


def widened(index: Index, vocabulary: Vocabulary, fingerprint: str) -> Index:
    """The index with empty lists for the terms of `vocabulary` that it has not: 4 bytes a range of documents and term
    are copied into memory. The same index where it lacks none."""
    missing = len(vocabulary) - index.n_terms
    if not missing:
        return index
    return replace(
        index,
        vocabulary=vocabulary,
        entries=np.pad(index.entries, ((0, 0), (0, missing))),  # an entry of 0 is an empty list
        lengths=np.pad(index.lengths, (0, missing)),
        list_max=np.pad(index.list_max, (0, missing)),
        own_lengths=None if index.own_lengths is None else np.pad(index.own_lengths, (0, missing)),
        meta=replace(index.meta, n_terms=len(vocabulary), vocab_fingerprint=fingerprint),
    )
