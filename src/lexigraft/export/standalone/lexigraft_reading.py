"""Reads texts as the exported model beside it was trained to read them. Lexigraft need not be installed.

Text becomes the words of Unicode's rule (Standard Annex 29) and these the subwords of the model's tokenizer; or, where
terms are subwords themselves, what the tokenizer makes of the raw text. Beside the subwords stand a text's own terms,
counted over the whole of it. It needs numpy and tokenizers; regex for words; PyStemmer where they are stemmed.

Copyright the Lexigraft authors; licensed under the Apache License, Version 2.0.
"""

import json
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tokenizers

try:
    import regex
except ImportError:  # said by name where it is needed
    regex = None
try:
    import Stemmer
except ImportError:
    Stemmer = None

NO_TERM, NOT_POOLED = -1, -2  # a word outside the vocabulary; one that is read, and of which no term is taken
BETWEEN = "\x1e"  # stands between a document and what was added to it
SPECIAL_AROUND = 2  # subwords around a text
K1, B = 1.2, 0.75
SMALLEST_WEIGHT = 1e-4  # what weighs no more is no term of a text
MOST_REMEMBERED = 1 << 20

WORD = r"[\p{L}\p{N}](?:\B(?![_\"]|[.:](?=\p{L})).)*"
CAMEL_CASE = (
    r"(?<=\p{Ll}\p{Nd}*)(?=\p{Lu})"
    r"|(?<=\p{Lu}\p{Nd}*)(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))"
)
JOINERS = "',.:;"
UNSEEN = (
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in JOINERS}


class Word(NamedTuple):
    """The subwords of a word, and its term."""

    subwords: tuple[int, ...]
    term: int


class Token(NamedTuple):
    """A subword of a text, the term of its word, and whether it is of a word at all."""

    subword: int
    term: int
    is_word: bool


class ReadText(NamedTuple):
    """`subwords` of the beginning of a text; which of them are `pooled`; the terms of the whole text with weights."""

    subwords: list[int]
    pooled: list[bool]
    own: dict[int, np.float32]


class WordCutter:
    """The words of any text, in any script: NFKC, lower case, cut at the boundaries of Standard Annex 29."""

    def __init__(self, facts: dict[str, Any]) -> None:
        if regex is None:
            raise ImportError("this model reads words of its own, for which it needs: pip install regex")
        self._word, self._unseen = regex.compile(WORD, regex.WORD | regex.DOTALL), regex.compile(UNSEEN)
        self._camel = regex.compile(CAMEL_CASE) if facts["split_camel_case"] else None
        self._folds = bool(facts["fold_accents"])
        self._kept, self._letters = frozenset(facts["kept_letters"]), dict(facts["folded_letters"])
        if self._folds:
            self._script = regex.compile(r"[\p{Latin}\p{Greek}]")
            self._marks = regex.compile(r"(?<=[\p{Latin}\p{Greek}])\p{Mn}+")

    def pieces(self, text: str) -> list[str]:
        """Normalised text, cut where every context cuts."""
        composed = unicodedata.normalize("NFKC", text)
        if self._camel is not None:
            composed = self._camel.sub("_", composed)
        normal = self._unseen.sub("", composed.lower()).replace("\u2019", "'")
        return [piece for piece in clean(normal).translate(SEPARATORS).split(" ") if piece]

    def words(self, piece: str) -> list[str]:
        """The words of a piece, without accents where they are folded."""
        found = self._word.findall(piece)
        return [self.fold(word) for word in found] if self._folds else list(found)

    def fold(self, word: str, everything: bool = False) -> str:
        """Latin and Greek letters lose their accents, but for the letters that a stemmer goes by."""
        if word.isascii() or not self._folds:
            return word
        kept = frozenset() if everything else self._kept
        return str(self._marks.sub("", "".join(c if c in kept else self._letter(c) for c in word)))

    def _letter(self, letter: str) -> str:
        base = unicodedata.normalize("NFD", letter)[0]
        return self._letters.get(base, base) if self._script.match(base) else letter


class TextReader:
    """Reads by what `facts` says (reading.json); `raw` is the model's tokenizer."""

    def __init__(self, facts: dict[str, Any], terms: Sequence[str], raw: tokenizers.Tokenizer) -> None:
        self.facts, self.terms = facts, list(terms)
        self._raw = raw
        raw.no_padding()
        raw.no_truncation()
        self._special, self._not_terms = facts["special"], frozenset(facts["not_terms"])
        if not facts["of_subwords"]:
            self._prepare_words()

    def _prepare_words(self) -> None:
        facts = self.facts
        self._cutter, self._stem = WordCutter(facts), stemmer_of(facts)
        if facts["fold_accents"] and facts["kept_letters"]:
            stem = self._stem
            self._stem = lambda word: self._cutter.fold(stem(word), everything=True)
        self._term_of_stem = {self._stem(term): number for number, term in enumerate(self.terms)}
        self._stopwords = frozenset(facts["stopwords"])
        self._speller = self._raw
        if facts["spells_without_cutting"]:
            self._speller = tokenizers.Tokenizer(self._raw.model)
            self._speller.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        self._pieces: dict[str, list[Word]] = {}

    def read(self, texts: Sequence[str], are_queries: bool) -> list[ReadText]:
        """What the model takes of each text."""
        length, added = self.facts["query_length" if are_queries else "document_length"], 0
        if not are_queries:
            added = self.facts["expansion_length"]
        parts = [clean(text).partition(BETWEEN) if added else (clean(text), "", "") for text in texts]
        whole = self._whole([text for text, _, _ in parts])
        more = self._whole([expansion for _, _, expansion in parts]) if added else []
        found = []
        for place, tokens in enumerate(whole):
            cut = self._cut(tokens, length)
            if more:
                cut = inserted(cut, self._cut(more[place], added + SPECIAL_AROUND))
            own = self._own(tokens, are_queries)
            found.append(ReadText([token.subword for token in cut], self._pooled(cut), own))
        return found

    def terms_of_queries(self, texts: Sequence[str]) -> list[list[int]]:
        """The distinct terms of whole queries, ascending: all that a query without a model is made of."""
        return [sorted(self._own(words, True)) for words in self._whole([clean(text) for text in texts])]

    def _whole(self, texts: Sequence[str]) -> list[Any]:
        """Every text as its words or, where terms are subwords, as its tokens."""
        if self.facts["of_subwords"]:
            return [self._tokens(encoding) for encoding in self._raw.encode_batch(list(texts))]
        pieces = [self._cutter.pieces(text) for text in texts]
        self._learn([piece for some in pieces for piece in some])
        return [[word for piece in some for word in self._pieces[piece]] for some in pieces]

    def _tokens(self, encoding: Any) -> list[Token]:
        found = []
        for number, added in zip(encoding.ids, encoding.special_tokens_mask, strict=True):
            term = NOT_POOLED if added or number in self._not_terms else number
            if not added and number == self._special["unknown"]:
                term = NO_TERM
            found.append(Token(number, term, not added))
        return found

    def _learn(self, pieces: Sequence[str]) -> None:
        if len(self._pieces) > MOST_REMEMBERED:
            self._pieces.clear()
        words = {piece: self._cutter.words(piece) for piece in dict.fromkeys(pieces) if piece not in self._pieces}
        distinct = list(dict.fromkeys(word for some in words.values() for word in some))
        spelt = self._speller.encode_batch([self.facts["prefix"] + word for word in distinct], add_special_tokens=False)
        known = {word: Word(tuple(found.ids), self._term_of(word)) for word, found in zip(distinct, spelt, strict=True)}
        for piece, some in words.items():
            self._pieces[piece] = [known[word] for word in some]

    def _term_of(self, word: str) -> int:
        return NOT_POOLED if word in self._stopwords else self._term_of_stem.get(self._stem(word), NO_TERM)

    def _cut(self, read: list[Any], length: int) -> list[Token]:
        """The beginning of a text, `length` subwords with the special ones."""
        if self.facts["of_subwords"]:
            room = length - sum(not token.is_word for token in read)
            place, found = 0, []
            for token in read:
                if not token.is_word or place < room:
                    found.append(token)
                place += token.is_word
            return found
        found, room = [Token(self._special["begin"], NOT_POOLED, False)], length - SPECIAL_AROUND
        for place, word in enumerate(read):
            subwords = word.subwords[:room] if place == 0 else word.subwords  # one over-long word is cut, no other
            if len(subwords) > room:
                break
            found += [Token(subword, word.term, True) for subword in subwords]
            room -= len(subwords)
        return [*found, Token(self._special["end"], NOT_POOLED, False)]

    def _pooled(self, tokens: list[Token]) -> list[bool]:
        if self.facts["head"] == "unicoil":
            return [token.subword not in self._not_terms for token in tokens]
        if self.facts["pooled"] == "all":
            return [True] * len(tokens)
        if not any(token.is_word for token in tokens):
            return [False] * len(tokens)
        said = [token.term != NOT_POOLED for token in tokens]
        return said if any(said) else [True] * len(tokens)

    def _own(self, read: list[Any], is_query: bool) -> dict[int, np.float32]:
        counts: dict[int, int] = {}
        n_words = 0
        for one in read:
            if isinstance(one, Token) and not one.is_word:
                continue
            n_words += 1
            if one.term >= 0:
                counts[one.term] = counts.get(one.term, 0) + 1
        if is_query:
            return {term: np.float32(1) for term in counts}
        share = n_words / self.facts["mean_words"]
        return {
            term: np.float32(count * (K1 + 1) / (count + K1 * (1 - B + B * share))) for term, count in counts.items()
        }


def inserted(text: list[Token], added: list[Token]) -> list[Token]:
    """A text with the words of what was added to it, before the special subwords at its end."""
    last = max((place for place, token in enumerate(text) if token.is_word), default=-1)
    at = last + 1 if last >= 0 else len(text) // 2
    return [*text[:at], *(token for token in added if token.is_word), *text[at:]]


def clean(text: str) -> str:
    """A lone surrogate, which no tokenizer takes, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def stemmer_of(facts: dict[str, Any]) -> Callable[[str], str]:
    """What words of one term have in common."""
    if facts["stemmer"] == "none":
        return str
    if Stemmer is None:
        raise ImportError(f"this model stems words ({facts['stemmer']}), for which it needs: pip install PyStemmer")
    stem: Callable[[str], str] = Stemmer.Stemmer(facts["stemmer"], 0).stemWord
    return stem


def open_reader(folder: Path, tokenizer: str = "tokenizer.json") -> TextReader:
    """The reader of the model in `folder`."""
    facts, terms = (json.loads((folder / name).read_text(encoding="utf-8")) for name in ("reading.json", "terms.json"))
    return TextReader(facts, terms, tokenizers.Tokenizer.from_file(str(folder / tokenizer)))


def look_up(rows: dict[str, Any], asked: Sequence[int]) -> tuple[Any, Any]:
    """The rows of a table (`indptr`, `terms`, `weights`) of the terms asked for, added up: (terms, weights)."""
    spans = [slice(int(rows["indptr"][term]), int(rows["indptr"][term + 1])) for term in asked]
    brought = np.concatenate([rows["terms"][:0], *(rows["terms"][span] for span in spans)])
    said = np.concatenate([rows["weights"][:0], *(rows["weights"][span] for span in spans)])
    found, places = np.unique(brought, return_inverse=True)
    sums = np.zeros(len(found), np.float32)
    np.add.at(sums, places, said)
    return found, sums


def heaviest(terms: Any, weights: Any, most: int) -> tuple[Any, Any]:
    """At most so many terms (0: all), the heaviest; of equal ones those of lower number."""
    if not most or len(terms) <= most:
        return terms, weights
    kept = np.sort(np.lexsort((terms, -weights))[:most])
    return terms[kept], weights[kept]
