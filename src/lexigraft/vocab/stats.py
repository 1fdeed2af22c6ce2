"""A vocabulary in numbers (V3): its size, scripts and lengths and, where counts are known, how they fall with rank."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from lexigraft.vocab.opened import PIECES, OpenVocabulary

RANKS = (1, 10, 100, 1000, 10_000)
TOP = 20
FITTED_POINTS = 200

_SCRIPTS = {
    "Latin": r"\p{Script=Latin}",
    "Hangul": r"\p{Script=Hangul}",
    "Han": r"\p{Script=Han}",
    "Kana": r"[\p{Script=Hiragana}\p{Script=Katakana}ー]",
    "Cyrillic": r"\p{Script=Cyrillic}",
    "Arabic": r"\p{Script=Arabic}",
}
DIGITS, OTHER = "digits only", "other"
SCRIPTS = (*_SCRIPTS, DIGITS, OTHER)
_SCRIPT_OF_LETTER = [(name, regex.compile(pattern)) for name, pattern in _SCRIPTS.items()]
_LETTER, _DIGIT = regex.compile(r"\p{L}"), regex.compile(r"\p{N}")


@dataclass(frozen=True)
class VocabularyStats:
    """None stands where a number is not known, or says nothing of this kind of vocabulary."""

    kind: str
    terms: int  # special tokens are none
    special_tokens: int
    forms: int | None  # words that the terms stand for
    continuations: float | None  # share of pieces that only continue a word
    mean_letters: float
    scripts: dict[str, float]  # share of the terms, by their first letter
    top: list[str]  # the most frequent; where counts are unknown, the first
    coverage: float | None  # share of the words it was learned from
    count_at_rank: dict[str, int] | None
    zipf_exponent: float | None


def describe(opened: OpenVocabulary, counts: NDArray[np.int64] | None) -> VocabularyStats:
    """The numbers of a vocabulary whose terms occur `counts` times."""
    terms = opened.vocabulary.terms
    texts = [opened.text_of(term) for term in terms]
    scripts = Counter(script_of(text) for text in texts)
    continuing = sum(opened.word_of(term) is None for term in terms)
    return VocabularyStats(
        kind=opened.kind,
        terms=len(terms),
        special_tokens=opened.n_special,
        forms=opened.n_forms,
        continuations=continuing / len(terms) if opened.kind == PIECES else None,
        mean_letters=sum(map(len, texts)) / len(terms),
        scripts={name: scripts[name] / len(terms) for name in SCRIPTS},
        top=[terms[number] for number in by_count(len(terms), counts)[:TOP].tolist()],
        coverage=opened.coverage,
        count_at_rank=None if counts is None else count_at_rank(counts),
        zipf_exponent=None if counts is None else zipf_exponent(counts),
    )


def script_of(text: str) -> str:
    """The script of the first letter; of a text without letters, whether it has digits."""
    letter = _LETTER.search(text)
    if letter is None:
        return DIGITS if _DIGIT.search(text) else OTHER
    return next((name for name, pattern in _SCRIPT_OF_LETTER if pattern.match(letter[0])), OTHER)


def by_count(n_terms: int, counts: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Term ids by descending count, equal ones in their order; all in their order where counts are unknown."""
    return np.arange(n_terms) if counts is None else np.argsort(-counts, kind="stable")


def count_at_rank(counts: NDArray[np.int64]) -> dict[str, int]:
    """The counts at ranks 1, 10, 100 ... that there are, and at the last."""
    falling = -np.sort(-counts)
    found = {str(rank): int(falling[rank - 1]) for rank in RANKS if rank <= len(falling)}
    return {**found, "last": int(falling[-1])}


def zipf_exponent(counts: NDArray[np.int64]) -> float | None:
    """s of count ~ rank^-s, by least squares between logarithms at ranks that are evenly spaced on a logarithmic
    scale, because at all ranks the tail would outvote the rest. None where fewer than two terms occur."""
    falling = -np.sort(-counts[counts > 0])
    if len(falling) < 2:
        return None
    ranks = np.unique(np.geomspace(1, len(falling), FITTED_POINTS).round().astype(np.int64))
    slope = np.polyfit(np.log(ranks), np.log(falling[ranks - 1]), 1)[0]
    return float(-slope)
