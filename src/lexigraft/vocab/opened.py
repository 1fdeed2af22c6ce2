"""Any vocabulary as one thing: its terms, what is known of their counts, and how it spells words.

Three kinds are told apart. "unigrams" are learned by Lexigraft: a term stands for all words of a stem. "words" are a
list. "pieces" are a tokenizer's: a word may take several; either those that continue a word bear a mark, or the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Vocabulary
from lexigraft.vocab.lexicon import Lexicon
from lexigraft.vocab.subwords import spelling_words, wants_space
from lexigraft.vocab.terms import TermRule
from lexigraft.vocab.tokenizer_files import OpenTokenizer
from lexigraft.vocab.words import WordCutter, normalise

UNIGRAMS, WORDS, PIECES = "unigrams", "words", "pieces"
UNKNOWN_TERM = -1
CONTINUES = "##"  # WordPiece marks what continues a word; others mark what begins one
BEGINS = ("Ġ", "▁")


@dataclass(frozen=True)
class OpenVocabulary:
    """`spell` gives the term ids of each word: none for a stop-word, UNKNOWN_TERM for what no term stands for."""

    name: str
    kind: str
    vocabulary: Vocabulary
    spell: Callable[[Sequence[str]], list[list[int]]] = field(repr=False)
    counts: NDArray[np.int64] | None = None
    coverage: float | None = None  # share of the words it was learned from
    n_forms: int | None = None
    n_special: int = 0
    mark: str = ""  # "##", or what begins a word; "" where every term is a word
    cutter: WordCutter = field(default_factory=WordCutter)  # how texts are cut into the words it spells

    def __len__(self) -> int:
        return len(self.vocabulary)

    def word_of(self, term: str) -> str | None:
        """The word that a term is, without its mark; None for a piece that continues one."""
        return whole_word(term, self.mark)

    def text_of(self, term: str) -> str:
        """A term without its mark."""
        return without_mark(term, self.mark)


def whole_word(piece: str, mark: str) -> str | None:
    """The word that a piece is, without the mark of its tokenizer; None for a piece that continues one."""
    if not mark:
        return piece
    begins = not piece.startswith(mark) if mark == CONTINUES else piece.startswith(mark)
    return without_mark(piece, mark) if begins else None


def without_mark(piece: str, mark: str) -> str:
    """The text of a piece."""
    bare = piece.removeprefix(mark) if mark and piece != mark else piece
    return _decoded(bare) if mark == BEGINS[0] else bare


def from_lexicon(name: str, lexicon: Lexicon, coverage: float | None) -> OpenVocabulary:
    """A learned vocabulary; a term's count is that of its forms."""
    rule = TermRule(lexicon.stemmer, lexicon.stopwords, lexicon.rule)
    stem, stopped = rule.stem, rule.stopwords
    term_of_stem = {stem(term): number for number, term in enumerate(lexicon.vocabulary.terms)}

    def spell(words: Sequence[str]) -> list[list[int]]:
        return [[] if word in stopped else [term_of_stem.get(stem(word), UNKNOWN_TERM)] for word in words]

    counts = np.add.reduceat(lexicon.form_counts, lexicon.forms_indptr[:-1])
    n_forms = len(lexicon.forms)
    return OpenVocabulary(name, UNIGRAMS, lexicon.vocabulary, spell, counts, coverage, n_forms, cutter=rule.cutter)


def from_words(name: str, terms: Sequence[str]) -> OpenVocabulary:
    """A list of words; a text's word is a term if both are the same when normalised."""
    number_of = {normalise(term): number for number, term in enumerate(terms)}

    def spell(words: Sequence[str]) -> list[list[int]]:
        return [[number_of.get(word, UNKNOWN_TERM)] for word in words]

    return OpenVocabulary(name, WORDS, Vocabulary(list(terms)), spell)


def from_tokenizer(name: str, tokenizer: OpenTokenizer) -> OpenVocabulary:
    """The pieces of a tokenizer in the order of their numbers; special tokens are no terms."""
    numbers = tokenizer.backend.get_vocab()
    kept = sorted((number, piece) for piece, number in numbers.items() if number not in tokenizer.special_ids)
    term_of = {number: place for place, (number, _) in enumerate(kept)}
    speller, prefix = spelling_words(tokenizer.backend), " " if wants_space(tokenizer.backend) else ""

    def spell(words: Sequence[str]) -> list[list[int]]:
        encoded = speller.encode_batch([prefix + word for word in words], add_special_tokens=False)
        return [[term_of.get(number, UNKNOWN_TERM) for number in found.ids] or [UNKNOWN_TERM] for found in encoded]

    counts = None if tokenizer.counts is None else tokenizer.counts[[number for number, _ in kept]]
    terms = Vocabulary([piece for _, piece in kept])
    coverage = tokenizer.facts.get("coverage")
    return OpenVocabulary(
        name, PIECES, terms, spell, counts, coverage, None, len(numbers) - len(kept), mark_of(terms.terms)
    )


def mark_of(pieces: Sequence[str]) -> str:
    """What a tokenizer marks pieces with: those that continue a word, or those that begin one."""
    return max((CONTINUES, *BEGINS), key=lambda mark: sum(piece.startswith(mark) for piece in pieces))


def _decoded(piece: str) -> str:
    """Text of a piece that is made of bytes in disguise, as those with Ġ are."""
    from tokenizers import decoders

    text: str = decoders.ByteLevel().decode([piece])
    return text
