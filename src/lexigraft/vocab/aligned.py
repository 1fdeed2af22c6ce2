"""Text to subwords with the term each belongs to: the one alignment that training, grafting and explanation share.

Every distinct word is spelt once. A text is then assembled from integers: begin, the subwords of its words up to the
length, end; beside each subword stand the id of its term (negative where its word is none) and the place of
its word in the text, so that all subwords of one occurrence can be found together.
"""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.array_types import Int32s, Int64s
from lexigraft.core.compiled import compiled, for_steps
from lexigraft.core.types import Vocabulary
from lexigraft.core.word_rule import FORMER_RULE, WordRule
from lexigraft.vocab.bags import TermBags, count_terms
from lexigraft.vocab.batching import batches
from lexigraft.vocab.pieces import PieceTable
from lexigraft.vocab.stems import NO_STEMMER
from lexigraft.vocab.stopwords import NO_STOPWORDS
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.terms import TermRule
from lexigraft.vocab.words import SpannedText

CHARACTERS_AT_ONCE = 1 << 20
MOST_PIECES = 1 << 20  # more distinct ones than that are forgotten, and spelt again when they come again
MOST_REMEMBERED = 1 << 16  # pieces of queries: some ten mebibytes
SUBWORDS_OF_A_PIECE = 3  # about
NO_TERM = -1  # a word outside the vocabulary
NOT_POOLED = -2  # a stop-word or a special token: the model reads it, and no term is taken from it


class AlignedTexts(NamedTuple):
    """Ragged rows: text i lies at indptr[i]..indptr[i + 1], special tokens included (term NOT_POOLED, word -1)."""

    indptr: Int64s
    subwords: Int32s
    terms: Int32s
    words: Int32s

    def __len__(self) -> int:
        return len(self.indptr) - 1


class Extent(NamedTuple):
    """How many subwords are read of each text, and how many there are, special ones not counted."""

    read: Int64s
    whole: Int64s


def ordinary_subwords(texts: AlignedTexts) -> Int64s:
    """How many subwords each text has, special ones not counted."""
    upto: Int64s = np.concatenate((np.zeros(1, np.int64), np.cumsum(texts.words >= 0, dtype=np.int64)))
    return upto[texts.indptr[1:]] - upto[texts.indptr[:-1]]


def take(texts: AlignedTexts, rows: Int64s) -> AlignedTexts:
    """Some rows of aligned texts."""
    lengths = texts.indptr[rows + 1] - texts.indptr[rows]
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    at = np.repeat(texts.indptr[rows], lengths) + within
    return AlignedTexts(indptr, texts.subwords[at], texts.terms[at], texts.words[at])


def joined(parts: Sequence[AlignedTexts]) -> AlignedTexts:
    """Aligned texts one after the other."""
    ends = np.cumsum([0, *(int(part.indptr[-1]) for part in parts)], dtype=np.int64)
    starts = [part.indptr[:-1] + end for part, end in zip(parts, ends, strict=False)]
    columns = (np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True))
    return AlignedTexts(np.concatenate([*starts, ends[-1:]]), *columns)


def pad(indptr: Int64s, values: Int32s, fill: int) -> tuple[Int64s, Int64s]:
    """(values [rows, longest], mask [rows, longest]): ragged rows as a rectangle, 0 in the mask at padding."""
    lengths = np.diff(indptr)
    mask = np.arange(int(lengths.max(initial=1)))[None, :] < lengths[:, None]
    rectangle = np.full(mask.shape, fill, np.int64)
    rectangle[mask] = values
    return rectangle, mask.astype(np.int64)


class AlignedReader:
    """Reads texts for one tokenizer and vocabulary; remembers the words it has spelt.

    Words are cut by `rule`. With a stemmer, a word belongs to the term that has its stem; stop-words belong to none.
    """

    def __init__(
        self,
        tokenizer: SubwordTokenizer,
        vocabulary: Vocabulary,
        stemming: str = NO_STEMMER,
        stopping: str = NO_STOPWORDS,
        rule: WordRule = FORMER_RULE,
    ) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self._how = stemming, stopping, rule
        terms = TermRule(*self._how)
        self._cutter, self._stem, self._stopwords = terms.cutter, terms.stem, terms.stopwords
        self._term_of_stem = {self._stem(term): number for number, term in enumerate(vocabulary.terms)}
        self._terms_of_piece: dict[bytes, tuple[int, ...]] = {}
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent to another process it is made anew: a stemmer cannot be sent, and words are remembered where they are
        read."""
        return AlignedReader, (self.tokenizer, self.vocabulary, *self._how)

    def _forget(self) -> None:
        """Begin with empty tables, at the start and whenever they have grown too large."""
        self._table = PieceTable()
        self._word_number: dict[str, int] = {}
        self._piece_starts, self._piece_words = array("i", [0]), array("i")
        self._word_starts, self._word_subwords, self._word_terms = array("i", [0]), array("i"), array("i")

    def read(self, texts: Sequence[str], length: int) -> AlignedTexts:
        """Align texts, each cut to `length` subwords with its two special tokens; a word is never cut in two, unless it
        alone is longer than a text may be."""
        return self._align(*self._number(texts), length)

    def read_bags(self, texts: Sequence[str]) -> TermBags:
        """Count the terms of whole texts."""
        return self._count(*self._number(texts))

    def read_both(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags]:
        """`read` and `read_bags` in one pass over the text."""
        numbers, ends = self._number(texts)
        return self._align(numbers, ends, length), self._count(numbers, ends)

    def read_measured(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags, Int64s]:
        """`read_both`, and how many subwords each whole text has, special ones not counted."""
        numbers, ends = self._number(texts)
        pieces = np.array(self._piece_starts, np.int32), np.array(self._piece_words, np.int32)
        whole = for_steps(count_subwords, self._steps(numbers))(
            numbers, ends, *pieces, np.array(self._word_starts, np.int32)
        )
        return self._align(numbers, ends, length), self._count(numbers, ends), whole

    def distinct_terms(self, text: str) -> Int32s:
        """The terms of one whole text, ascending; the shortest way from a query to its terms. Pieces are remembered
        with theirs: the words of queries come again and again, and what prepares a batch takes longer than they."""
        found: set[int] = set()
        for piece in self._cutter.split_pieces(text):
            terms = self._terms_of_piece.get(piece)
            found.update(self._remember(piece) if terms is None else terms)
        return np.array(sorted(found), np.int32)

    def _remember(self, piece: bytes) -> tuple[int, ...]:
        """The terms of a piece, whose words need not be spelt for that."""
        if len(self._terms_of_piece) >= MOST_REMEMBERED:
            self._terms_of_piece.clear()
        words = (word for word in self._cutter.words_of_piece(piece) if word not in self._stopwords)
        found = (self._term_of_stem.get(self._stem(word), NO_TERM) for word in words)
        terms = self._terms_of_piece[piece] = tuple(term for term in found if term != NO_TERM)
        return terms

    def spans(self, text: str) -> SpannedText:
        """Where the words lie whose places `read` gives."""
        return self._cutter.spans(text)

    def _number(self, texts: Sequence[str]) -> tuple[Int32s, Int64s]:
        """Piece numbers of all texts and where each text's end, some megabyte at a time: the table of pieces makes
        room for as many new ones as a batch could hold."""
        if self._table.count > MOST_PIECES:
            self._forget()
        numbers, ends, shift = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], 0
        for some in batches(texts, len, characters=CHARACTERS_AT_ONCE):
            found, found_ends = self._number_some(some)
            numbers.append(found)
            ends.append(found_ends + shift)
            shift += len(found)
        return np.concatenate(numbers), np.concatenate(ends)

    def _number_some(self, texts: Sequence[str]) -> tuple[Int32s, Int64s]:
        parts = [self._cutter.normalised_utf8(text) for text in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        known = self._table.count
        numbers, number_ends = self._table.number(b"".join(parts), ends)
        self._learn(self._table.pieces(known))
        return numbers, number_ends

    def _align(self, numbers: Int32s, ends: Int64s, length: int) -> AlignedTexts:
        special = self.tokenizer.special
        return AlignedTexts(
            *for_steps(assemble, self._steps(numbers))(
                numbers, ends,
                np.array(self._piece_starts, np.int32), np.array(self._piece_words, np.int32),
                np.array(self._word_starts, np.int32), np.array(self._word_subwords, np.int32),
                np.array(self._word_terms, np.int32),
                length, special.begin, special.end,
            )
        )  # fmt: skip

    def _count(self, numbers: Int32s, ends: Int64s) -> TermBags:
        pieces = np.array(self._piece_starts, np.int32), np.array(self._piece_words, np.int32)
        terms = np.array(self._word_terms, np.int32)
        counted = for_steps(count_terms, self._steps(numbers))(numbers, ends, *pieces, terms, len(self.vocabulary))
        return TermBags(*counted)

    @staticmethod
    def _steps(numbers: Int32s) -> int:
        """Of going through texts of these pieces."""
        return SUBWORDS_OF_A_PIECE * len(numbers)

    def _learn(self, pieces: list[bytes]) -> None:
        new_words: list[str] = []
        for piece in pieces:
            for word in self._cutter.words_of_piece(piece):
                if word not in self._word_number:
                    self._word_number[word] = len(self._word_number)
                    new_words.append(word)
                self._piece_words.append(self._word_number[word])
            self._piece_starts.append(len(self._piece_words))
        for word, subwords in zip(new_words, self.tokenizer.spell(new_words), strict=True):
            self._word_subwords.extend(subwords)
            self._word_starts.append(len(self._word_subwords))
            term = self._term_of_stem.get(self._stem(word), NO_TERM)
            self._word_terms.append(NOT_POOLED if word in self._stopwords else term)


@compiled
def count_subwords(
    numbers: Int32s, ends: Int64s, piece_starts: Int32s, piece_words: Int32s, word_starts: Int32s
) -> Int64s:
    """How many subwords each of some texts, given as piece numbers, has."""
    counts = np.zeros(len(ends), np.int64)
    at = 0
    for text in range(len(ends)):
        while at < ends[text]:
            for i in range(piece_starts[numbers[at]], piece_starts[numbers[at] + 1]):
                counts[text] += word_starts[piece_words[i] + 1] - word_starts[piece_words[i]]
            at += 1
    return counts


@compiled
def assemble(
    numbers: Int32s,
    ends: Int64s,
    piece_starts: Int32s,
    piece_words: Int32s,
    word_starts: Int32s,
    word_subwords: Int32s,
    word_terms: Int32s,
    length: int,
    begin: int,
    end: int,
) -> tuple[Int64s, Int32s, Int32s, Int32s]:
    """(indptr, subwords, terms, words) of texts given as piece numbers."""
    n_texts = len(ends)
    indptr = np.zeros(n_texts + 1, np.int64)
    subwords = np.empty(n_texts * length, np.int32)
    terms, words = np.empty(n_texts * length, np.int32), np.empty(n_texts * length, np.int32)
    at, n = 0, 0
    for text in range(n_texts):
        subwords[n], terms[n], words[n] = begin, NOT_POOLED, -1
        n += 1
        room, word_place = length - 2, 0
        while at < ends[text]:
            for i in range(piece_starts[numbers[at]], piece_starts[numbers[at] + 1]):
                word = piece_words[i]
                first, last = word_starts[word], word_starts[word + 1]
                if last - first > room and word_place == 0:
                    last = first + room  # a text of one over-long word is better cut than empty
                if last - first > room:
                    room = 0  # keep the text's beginning, not a selection of its short words
                    break
                for j in range(first, last):
                    subwords[n], terms[n], words[n] = word_subwords[j], word_terms[word], word_place
                    n += 1
                room -= last - first
                word_place += 1
            at += 1
        subwords[n], terms[n], words[n] = end, NOT_POOLED, -1
        n += 1
        indptr[text + 1] = n
    return indptr, subwords[:n].copy(), terms[:n].copy(), words[:n].copy()
