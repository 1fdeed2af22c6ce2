"""What reading more of a document is worth: BM25 over documents cut to their first subwords, on validation queries.

It needs no training and no device. The terms are the model's own, so what is counted is what a model of that length
could see; only those that a query asks for are held in memory. Ties go to the earlier document, so the same collection
gives the same curve everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.settings import LexicalSettings
from lexigraft.vectors.lexical import inverse_document_frequency
from lexigraft.vocab.aligned import AlignedTexts
from lexigraft.vocab.batching import batches
from lexigraft.vocab.reader import TextReader

DEPTH = 10
Ints = NDArray[np.int64]


class Question(NamedTuple):
    """The terms of a query, and the rows of the documents that it wants."""

    terms: Ints
    wanted: Ints


class ReadDocuments(NamedTuple):
    """`subwords`: how many each document has, special ones not counted. Occurrence i of a term that is asked for is
    `terms[i]` in document `rows[i]`, and whoever reads `needs[i]` subwords or more reads it; `n_terms[length]` is how
    many terms of each document are read at that length."""

    subwords: Ints
    rows: Ints
    terms: Ints
    needs: Ints
    n_terms: Mapping[int, Ints]


def read_documents(
    reader: TextReader, texts: Iterable[str], asked: NDArray[np.int64], lengths: Sequence[int]
) -> ReadDocuments:
    """Read documents once for all `lengths`; `asked` are the terms of the queries."""
    is_asked = np.zeros(len(reader.vocabulary), np.bool_)
    is_asked[asked] = True
    subwords, rows, terms, needs = [], [], [], []
    counts: dict[int, list[Ints]] = {length: [] for length in lengths}
    seen = 0
    for some in batches(texts, len):
        aligned, _, whole = reader.read_measured(some, max(lengths))
        row, term, need = occurrences(aligned)
        subwords.append(whole)
        for length in lengths:
            counts[length].append(np.bincount(row[need <= length], minlength=len(some)))
        kept = is_asked[term]
        rows.append(row[kept] + seen)
        terms.append(term[kept])
        needs.append(need[kept])
        seen += len(some)
    n_terms = {length: _joined(parts) for length, parts in counts.items()}
    return ReadDocuments(_joined(subwords), _joined(rows), _joined(terms), _joined(needs), n_terms)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def occurrences(texts: AlignedTexts) -> tuple[Ints, Ints, Ints]:
    """(row, term, subwords needed) of every occurrence of a term: a word of several subwords is read with its last, and
    the closing special subword must fit in, too."""
    row = np.repeat(np.arange(len(texts)), np.diff(texts.indptr))
    place = np.arange(len(row)) - texts.indptr[row]
    goes_on = np.zeros(len(row), np.bool_)
    goes_on[:-1] = (texts.words[1:] == texts.words[:-1]) & (texts.terms[1:] == texts.terms[:-1]) & (row[1:] == row[:-1])
    ends = (texts.terms >= 0) & ~goes_on
    return row[ends], texts.terms[ends].astype(np.int64), place[ends] + 2


def mrr_at_10(documents: ReadDocuments, length: int, questions: Sequence[Question], settings: LexicalSettings) -> float:
    """MRR@10 of BM25 over the documents' first `length` subwords."""
    n_documents, counted = len(documents.subwords), documents.n_terms[length]
    read = documents.needs <= length
    pair, tf = np.unique(documents.terms[read] * n_documents + documents.rows[read], return_counts=True)
    terms, rows = pair // n_documents, pair % n_documents
    norms = settings.k1 * (1 - settings.b + settings.b * counted / max(1.0, float(counted.mean())))
    weights = tf / (tf + norms[rows])
    total = 0.0
    for question in questions:
        scores = np.zeros(n_documents)
        for term in question.terms:
            first, last = np.searchsorted(terms, (term, term + 1))
            frequency = np.array([last - first])
            scores[rows[first:last]] += (
                float(inverse_document_frequency(n_documents, frequency)[0]) * weights[first:last]
            )
        total += _reciprocal_rank(scores, question.wanted)
    return total / len(questions)


def _reciprocal_rank(scores: NDArray[np.float64], wanted: Ints) -> float:
    """1 over the place of the first document that is wanted, 0 where it is not among ten or shares no term."""
    found = wanted[scores[wanted] > 0]
    if not len(found):
        return 0.0
    best = min(found.tolist(), key=lambda row: (-scores[row], row))
    ahead = int((scores > scores[best]).sum() + (scores[:best] == scores[best]).sum())
    return 1 / (ahead + 1) if ahead < DEPTH else 0.0
