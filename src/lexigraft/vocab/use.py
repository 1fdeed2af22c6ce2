"""What a collection makes of a vocabulary: how long texts get, what is split or unknown, and what a query would touch.

These are the statistics that vocabularies of different kinds are chosen by (corpus vocabulary study, Table 1). Every
distinct word is spelt once, and texts are counted as integers; memory holds the distinct pieces of text and one batch.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.vocab.aligned import CHARACTERS_AT_ONCE, MOST_PIECES
from lexigraft.vocab.bags import TermBags, count_terms
from lexigraft.vocab.batching import batches
from lexigraft.vocab.opened import PIECES, UNKNOWN_TERM, OpenVocabulary
from lexigraft.vocab.pieces import PieceTable


@dataclass(frozen=True)
class CollectionUse:
    """Lengths are in terms: what is unknown adds nothing to them. Stop-words of the vocabulary are passed over, neither
    terms nor unknown. None stands where there is nothing to take a mean of, or where a statistic does not apply: only a
    tokenizer splits words."""

    documents: int
    queries: int
    mean_query_terms: float | None  # |Q|
    queries_with_a_split_word: float | None  # share with a word of more than one piece
    queries_with_an_unknown_word: float | None  # share with a word that is no term, or not made of known pieces
    mean_document_terms: float | None  # |D|, repetitions counted
    mean_distinct_document_terms: float | None
    unknown_words: float | None  # share of all words of the documents
    mean_postings: float | None  # of a query: documents with each of its distinct terms, added up
    term_counts: NDArray[np.int64] = field(repr=False)  # in the documents
    document_frequency: NDArray[np.int64] = field(repr=False)


class ReadTexts(NamedTuple):
    """The terms of texts, and of each text how many words there are, and how many are split or unknown."""

    bags: TermBags
    words: NDArray[np.int64]
    split: NDArray[np.int64]
    unknown: NDArray[np.int64]


def measure_use(vocabulary: OpenVocabulary, documents: Iterable[str], queries: Iterable[str]) -> CollectionUse:
    """Read all documents, then all queries."""
    frequency, counts = np.zeros(len(vocabulary), np.int64), np.zeros(len(vocabulary), np.int64)
    n_documents = n_words = n_unknown = 0
    for read in _read_all(vocabulary, documents):
        frequency += np.bincount(read.bags.terms, minlength=len(vocabulary))
        np.add.at(counts, read.bags.terms, read.bags.counts)
        n_documents += len(read.words)
        n_words += int(read.words.sum())
        n_unknown += int(read.unknown.sum())
    n_queries = n_query_terms = n_split = n_with_unknown = n_postings = 0
    for read in _read_all(vocabulary, queries):
        n_queries += len(read.words)
        n_query_terms += int(read.bags.counts.sum(dtype=np.int64))
        n_split += int((read.split > 0).sum())
        n_with_unknown += int((read.unknown > 0).sum())
        n_postings += int(frequency[read.bags.terms].sum())
    return CollectionUse(
        documents=n_documents,
        queries=n_queries,
        mean_query_terms=_ratio(n_query_terms, n_queries),
        queries_with_a_split_word=_ratio(n_split, n_queries) if vocabulary.kind == PIECES else None,
        queries_with_an_unknown_word=_ratio(n_with_unknown, n_queries),
        mean_document_terms=_ratio(int(counts.sum()), n_documents),
        mean_distinct_document_terms=_ratio(int(frequency.sum()), n_documents),
        unknown_words=_ratio(n_unknown, n_words),
        mean_postings=_ratio(n_postings, n_queries),
        term_counts=counts,
        document_frequency=frequency,
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _read_all(vocabulary: OpenVocabulary, texts: Iterable[str]) -> Iterator[ReadTexts]:
    reader = TermReader(vocabulary)
    for batch in batches(texts, len, characters=CHARACTERS_AT_ONCE):
        if reader.n_pieces > MOST_PIECES:
            reader = TermReader(vocabulary)
        yield reader.read(batch)


class TermReader:
    """Reads texts as terms of one vocabulary; remembers every word it has spelt."""

    def __init__(self, vocabulary: OpenVocabulary) -> None:
        self._vocabulary = vocabulary
        self._table = PieceTable()
        self._spelt: dict[str, list[int]] = {}
        self._starts, self._terms = array("i", [0]), array("i")  # of each piece of text
        self._words, self._split, self._unknown = array("i"), array("i"), array("i")

    @property
    def n_pieces(self) -> int:
        return self._table.count

    def read(self, texts: Sequence[str]) -> ReadTexts:
        """The terms of some thousand texts."""
        cutter = self._vocabulary.cutter
        parts = [cutter.normalised_utf8(text) for text in texts]
        known = self._table.count
        lengths = np.cumsum([len(part) for part in parts], dtype=np.int64)
        numbers, ends = self._table.number(b"".join(parts), lengths)
        self._learn([cutter.words_of_piece(piece) for piece in self._table.pieces(known)])
        n_terms = len(self._vocabulary)
        # Pieces lead to terms directly here; the last place stands for what is unknown, and is no term.
        itself = np.append(np.arange(n_terms, dtype=np.int32), np.int32(UNKNOWN_TERM))
        starts, terms = np.array(self._starts, np.int32), np.array(self._terms, np.int32)
        bags = TermBags(*count_terms(numbers, ends, starts, terms, itself, n_terms))
        return ReadTexts(bags, *(_sums(of, numbers, ends) for of in (self._words, self._split, self._unknown)))

    def _learn(self, pieces: list[list[str]]) -> None:
        new = list(dict.fromkeys(word for words in pieces for word in words if word not in self._spelt))
        self._spelt.update(zip(new, self._vocabulary.spell(new), strict=True))
        unknown = len(self._vocabulary)
        for words in pieces:
            spelt = [terms for word in words if (terms := self._spelt[word])]
            self._terms.extend(unknown if term == UNKNOWN_TERM else term for terms in spelt for term in terms)
            self._starts.append(len(self._terms))
            self._words.append(len(spelt))
            self._split.append(sum(len(terms) > 1 for terms in spelt))
            self._unknown.append(sum(UNKNOWN_TERM in terms for terms in spelt))


def _sums(of_piece: "array[int]", numbers: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each text, the sum of its pieces' values."""
    totals = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(of_piece, np.int64)[numbers])))
    sums: NDArray[np.int64] = np.diff(totals[np.concatenate((np.zeros(1, np.int64), ends))])
    return sums
