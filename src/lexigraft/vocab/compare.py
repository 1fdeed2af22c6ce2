"""Two vocabularies beside each other: what they share, and whether they agree on what is frequent (V3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexigraft.vocab.opened import OpenVocabulary
from lexigraft.vocab.stats import TOP, by_count

DEPTHS = (100, 1000, 10_000)


@dataclass(frozen=True)
class Comparison:
    """Where both mark pieces in the same way, or neither does, terms are compared as they are; else the words that are
    whole terms, and pieces that only continue a word are left out."""

    compared_as: str  # terms or words
    left_out: tuple[int, int]
    compared: tuple[int, int]
    shared: int
    share_of_a: float
    share_of_b: float
    jaccard: float
    shared_at_top: dict[str, float] | None  # share of the k most frequent; where both have k terms and counts
    rank_correlation: float | None  # Spearman's, of the counts of shared terms
    only_in_a: list[str]  # the most frequent first where counts are known
    only_in_b: list[str]


def compare(
    a: OpenVocabulary,
    a_counts: NDArray[np.int64] | None,
    b: OpenVocabulary,
    b_counts: NDArray[np.int64] | None,
) -> Comparison:
    """Compare two vocabularies whose terms occur so often, where that is known."""
    alike = a.mark == b.mark
    a_terms, b_terms = _falling(a, a_counts, alike), _falling(b, b_counts, alike)
    shared = a_terms.keys() & b_terms.keys()
    known = a_counts is not None and b_counts is not None
    in_order = sorted(shared)
    return Comparison(
        compared_as="terms" if alike else "words",
        left_out=(len(a) - len(a_terms), len(b) - len(b_terms)),
        compared=(len(a_terms), len(b_terms)),
        shared=len(shared),
        share_of_a=_ratio(len(shared), len(a_terms)),
        share_of_b=_ratio(len(shared), len(b_terms)),
        jaccard=_ratio(len(shared), len(a_terms.keys() | b_terms.keys())),
        shared_at_top=_shared_at_top(list(a_terms), list(b_terms)) if known else None,
        rank_correlation=spearman(
            np.array([a_terms[term] for term in in_order]), np.array([b_terms[term] for term in in_order])
        )
        if known
        else None,
        only_in_a=[term for term in a_terms if term not in shared][:TOP],
        only_in_b=[term for term in b_terms if term not in shared][:TOP],
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _falling(opened: OpenVocabulary, counts: NDArray[np.int64] | None, alike: bool) -> dict[str, int]:
    """The terms to compare with their counts, the most frequent first; as they stand, with 0, where none are known."""
    found: dict[str, int] = {}
    for number in by_count(len(opened), counts).tolist():
        term = opened.vocabulary.terms[number]
        name = term if alike else opened.word_of(term)
        if name is not None:
            found.setdefault(name, 0 if counts is None else int(counts[number]))
    return found


def _shared_at_top(a: Sequence[str], b: Sequence[str]) -> dict[str, float]:
    depths = [depth for depth in DEPTHS if depth <= min(len(a), len(b))]
    return {str(depth): len(set(a[:depth]) & set(b[:depth])) / depth for depth in depths}


def spearman(left: NDArray[np.int64], right: NDArray[np.int64]) -> float | None:
    """The correlation of ranks, equal values sharing their mean rank; None where one side has a single value."""
    if len(np.unique(left)) < 2 or len(np.unique(right)) < 2:
        return None
    return float(np.corrcoef(mean_ranks(left), mean_ranks(right))[0, 1])


def mean_ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ranks from 1 upwards; equal values get the mean of theirs."""
    _, which, times = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    ranks: NDArray[np.float64] = (last - (times - 1) / 2)[which]
    return ranks
