"""The terms of whole texts, counted: what a text says itself, however little of it the model reads.

A term's weight in a document saturates with its count and falls with the document's length, as in BM25; in a query it
is 1. The model adds it, times what it has learned of the term, to the term's logit (`model.head`).
"""

from typing import NamedTuple

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled

K1, B = 1.2, 0.75


class TermBags(NamedTuple):
    """Ragged rows: the distinct terms of text i, ascending, lie at indptr[i]..indptr[i + 1] with their counts."""

    indptr: Int64s
    terms: Int32s
    counts: Int32s
    n_words: Int32s  # of each text, those outside the vocabulary included


class WeightedBags(NamedTuple):
    indptr: Int64s
    terms: Int32s
    weights: Float32s


def document_weights(bags: TermBags, mean_words: float) -> WeightedBags:
    """tf (k1 + 1) / (tf + k1 (1 - b + b |d| / mean |d|)): 1 for one occurrence in a document of mean length."""
    lengths = np.repeat(bags.n_words, np.diff(bags.indptr)) / mean_words
    weights = bags.counts * (K1 + 1) / (bags.counts + K1 * (1 - B + B * lengths))
    return WeightedBags(bags.indptr, bags.terms, weights.astype(np.float32))


def query_weights(bags: TermBags) -> WeightedBags:
    """1 for every term."""
    return WeightedBags(bags.indptr, bags.terms, np.ones(len(bags.terms), np.float32))


def take_bags(bags: WeightedBags, rows: Int64s) -> WeightedBags:
    """Some rows of weighted bags."""
    lengths = bags.indptr[rows + 1] - bags.indptr[rows]
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    at = np.repeat(bags.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return WeightedBags(indptr, bags.terms[at], bags.weights[at])


@compiled
def count_terms(
    numbers: Int32s, ends: Int64s, piece_starts: Int32s, piece_words: Int32s, word_terms: Int32s, n_terms: int
) -> tuple[Int64s, Int32s, Int32s, Int32s]:
    """(indptr, terms, counts, n_words) of texts given as piece numbers."""
    n_texts, total = len(ends), 0
    for at in range(len(numbers)):
        total += piece_starts[numbers[at] + 1] - piece_starts[numbers[at]]
    indptr, n_words = np.zeros(n_texts + 1, np.int64), np.zeros(n_texts, np.int32)
    terms, counts = np.empty(total, np.int32), np.empty(total, np.int32)
    found = np.zeros(n_terms, np.int32)
    at, n = 0, 0
    for text in range(n_texts):
        first = n
        while at < ends[text]:
            for i in range(piece_starts[numbers[at]], piece_starts[numbers[at] + 1]):
                term = word_terms[piece_words[i]]
                n_words[text] += 1
                if term >= 0:
                    if found[term] == 0:
                        terms[n] = term
                        n += 1
                    found[term] += 1
            at += 1
        terms[first:n].sort()
        for place in range(first, n):
            counts[place] = found[terms[place]]
            found[terms[place]] = 0
        indptr[text + 1] = n
    return indptr, terms[:n].copy(), counts[:n].copy(), n_words
