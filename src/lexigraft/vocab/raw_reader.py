"""Raw text to the subwords of a backbone's own tokenizer, which are the terms of a plain head (H2).

A text is read as the backbone was trained to read it, punctuation and letter case included, and cut as `transformers`
cuts it: the beginning of the text between the special tokens that the tokenizer adds. Every subword is a term and a
word of its own, so that masking terms is masking subwords.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.made_here import MADE_ELSEWHERE
from lexigraft.core.types import Vocabulary
from lexigraft.vocab.aligned import NO_TERM, NOT_POOLED, AlignedTexts
from lexigraft.vocab.bags import TermBags
from lexigraft.vocab.raw_text import reads_words
from lexigraft.vocab.subwords import SubwordTokenizer
from lexigraft.vocab.words import SpannedText

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


def subword_terms(ids: Mapping[str, int], n_rows: int, name: str) -> Vocabulary:
    """A tokenizer's subwords in the order of their ids, as many as a head has rows; rows that no subword names get
    names of their own. `name` is the model's, for messages."""
    if (most := max(ids.values(), default=-1)) >= n_rows:
        raise InputError(
            f"the tokenizer of {name!r} has a subword of id {most}, its model only {n_rows} rows; give the tokenizer "
            "that the model was trained with"
        )
    terms = [f"[row {number}]" for number in range(n_rows)]
    for subword, number in ids.items():
        terms[number] = subword
    if len(set(terms)) < n_rows:  # a subword that looks like one of our names
        terms = [term if ids.get(term) == number else f"[row {number} of {name}]" for number, term in enumerate(terms)]
    return Vocabulary(terms)


MOST_REMEMBERED, LONGEST_REMEMBERED = 1 << 16, 64  # parts of texts, and letters of one


def reads_between_spaces(raw: "Tokenizer") -> bool:
    """Whether a space separates words in every context, so that what is between two may be read by itself: so it is in
    BERT's way of reading, and in ours."""
    cutter = type(raw.pre_tokenizer).__name__
    return type(raw.model).__name__ == "WordPiece" and (cutter == "BertPreTokenizer" or reads_words(raw))


class _Read(NamedTuple):
    """Whole texts one after the other: text i ends at ends[i]; `added` marks the special tokens around a text."""

    ids: NDArray[np.int32]
    added: NDArray[np.bool_]
    ends: NDArray[np.int64]


class SubwordReader:
    """Reads texts for a plain head over `vocabulary`, whose term ids are the subwords' ids.

    `tokenizer` reads raw text; `special` are the ids that are never terms, wherever they come from. What the tokenizer
    does not know is no term either, but is pooled like any word.
    """

    def __init__(
        self, raw: "Tokenizer", tokenizer: SubwordTokenizer, vocabulary: Vocabulary, special: frozenset[int]
    ) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self._raw = raw
        self._term_of = np.arange(len(vocabulary), dtype=np.int32)
        self._term_of[[number for number in special if 0 <= number < len(vocabulary)]] = NOT_POOLED
        if tokenizer.special.unknown >= 0:
            self._require_terms(tokenizer.special.unknown)
            self._term_of[tokenizer.special.unknown] = NO_TERM
        self._space_separates = reads_between_spaces(raw)
        self._terms_of_part: dict[str, frozenset[int]] = {}
        self._no_terms = frozenset(np.flatnonzero(self._term_of < 0).tolist())

    def save_tokenizer(self, file: Path) -> None:
        """Write what reads raw text, as `tokenizers` reads it."""
        self._raw.save(str(file))

    def read(self, texts: Sequence[str], length: int) -> AlignedTexts:
        """Align texts, each cut to `length` subwords, the special ones that the tokenizer adds included."""
        return self._align(self._read(texts), length)

    def read_bags(self, texts: Sequence[str]) -> TermBags:
        """Count the terms of whole texts."""
        return self._count(self._read(texts))

    def read_both(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags]:
        """`read` and `read_bags` in one pass over the text."""
        read = self._read(texts)
        return self._align(read, length), self._count(read)

    def read_measured(self, texts: Sequence[str], length: int) -> tuple[AlignedTexts, TermBags, NDArray[np.int64]]:
        """`read_both`, and how many subwords each whole text has, special ones not counted."""
        aligned, bags = self.read_both(texts, length)
        return aligned, bags, bags.n_words.astype(np.int64)  # every subword is a word here

    def distinct_terms(self, text: str) -> NDArray[np.int32]:
        """The terms of one whole text, ascending; the shortest way from a query to its terms. What stands between
        spaces is spelt once and remembered, where a space separates whatever is on its sides."""
        found: set[int] = set()
        for part in text.split(" ") if self._space_separates else (text,):
            terms = self._terms_of_part.get(part)
            if terms is None:
                terms = self._remember(part)
            found.update(terms)
        return np.array(sorted(found), np.int32)

    def _remember(self, part: str) -> frozenset[int]:
        self._raw.no_truncation()
        terms = frozenset(self._raw.encode(clean_text(part), add_special_tokens=False).ids) - self._no_terms
        self._require_terms(max(terms, default=0))
        if len(part) <= LONGEST_REMEMBERED:
            if len(self._terms_of_part) >= MOST_REMEMBERED:
                self._terms_of_part.clear()
            self._terms_of_part[part] = terms
        return terms

    def _require_terms(self, largest: int) -> None:
        """Raise where the tokenizer, a file that anybody may have made, has a subword that no term stands for: kernels
        look terms up without asking."""
        if largest and largest >= len(self.vocabulary):
            raise ArtifactError(
                f"the model's tokenizer has a subword of number {largest}, and its vocabulary only "
                f"{len(self.vocabulary)} terms: {MADE_ELSEWHERE}"
            )

    def spans(self, text: str) -> SpannedText:
        """Where the subwords lie whose places `read` gives; a space that belongs to one is left out."""
        (found,), (clean,) = self._encode([text])
        said = (span for span, added in zip(found.offsets, found.special_tokens_mask, strict=True) if not added)
        return SpannedText(clean, [_without_space(clean, *span) for span in said])

    def _encode(self, texts: Sequence[str]) -> tuple[list["Encoding"], list[str]]:
        clean = [clean_text(text) for text in texts]
        # Truncation and padding are the object's state: whoever else used the tokenizer may have left some.
        self._raw.no_truncation()
        self._raw.no_padding()
        return self._raw.encode_batch(clean), clean

    def _read(self, texts: Sequence[str]) -> _Read:
        found, _ = self._encode(texts)
        columns = [(encoding.ids, encoding.special_tokens_mask) for encoding in found]
        ids = np.concatenate([np.zeros(0, np.int32), *(np.array(ids, np.int32) for ids, _ in columns)])
        added = np.concatenate([np.zeros(0, bool), *(np.array(mask, bool) for _, mask in columns)])
        self._require_terms(int(ids.max(initial=0)))
        return _Read(ids, added, np.cumsum([len(ids) for ids, _ in columns], dtype=np.int64))

    def _align(self, read: _Read, length: int) -> AlignedTexts:
        text_of, place = _places(read)
        n_added = np.bincount(text_of[read.added], minlength=len(read.ends))
        kept = read.added | (place < (length - n_added)[text_of])
        ids = read.ids[kept]
        terms = np.where(read.added[kept], NOT_POOLED, self._term_of[ids]).astype(np.int32)
        words = np.where(read.added[kept], -1, place[kept]).astype(np.int32)
        lengths = np.bincount(text_of[kept], minlength=len(read.ends))
        return AlignedTexts(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), ids, terms, words)

    def _count(self, read: _Read) -> TermBags:
        text_of, _ = _places(read)
        said = ~read.added
        n_texts, n_terms = len(read.ends), len(self.vocabulary)
        terms = self._term_of[read.ids[said]].astype(np.int64)
        pairs, counts = np.unique((text_of[said] * n_terms + terms)[terms >= 0], return_counts=True)
        rows = np.bincount(pairs // n_terms, minlength=n_texts)
        return TermBags(
            np.concatenate((np.zeros(1, np.int64), np.cumsum(rows))),
            (pairs % n_terms).astype(np.int32),
            counts.astype(np.int32),
            np.bincount(text_of[said], minlength=n_texts).astype(np.int32),
        )


def clean_text(text: str) -> str:
    """A lone surrogate, which no tokenizer takes, becomes a question mark, as in the word rule."""
    return text.encode("utf-8", "replace").decode()


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _places(read: _Read) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the text of each subword, its place among those of the text that no tokenizer added)."""
    lengths = np.diff(read.ends, prepend=0)
    text_of = np.repeat(np.arange(len(read.ends)), lengths)
    before: NDArray[np.int64] = np.cumsum(np.append(False, ~read.added), dtype=np.int64)
    return text_of, before[:-1] - before[(read.ends - lengths)[text_of]]
