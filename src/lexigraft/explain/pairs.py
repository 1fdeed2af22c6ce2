"""Two models side by side: what both make of a text or a result, and what only one does.

Terms are matched by their names. Weights and scores of two models have units of their own, so what is compared is each
term's share of all that its model gave.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from lexigraft.explain.results import ExplainedResult, SharedTerm
from lexigraft.explain.texts import ExplainedTerm, ExplainedText

Item = TypeVar("Item", ExplainedTerm, SharedTerm)
Explained = ExplainedText | ExplainedResult
BOTH, FIRST, SECOND = "both", "first", "second"


class PairedTerm(NamedTuple, Generic[Item]):
    """A term in the first model, the second, or both; a share is 0 where the model does not have it."""

    term: str
    first: Item | None
    second: Item | None
    first_share: float
    second_share: float

    @property
    def where(self) -> str:
        return SECOND if self.first is None else FIRST if self.second is None else BOTH


def pair(first: Explained, second: Explained) -> list[PairedTerm[Any]]:
    """The terms of two explanations of the same thing, those with the largest share in either first."""
    if isinstance(first, ExplainedResult) and isinstance(second, ExplainedResult):
        return list(pair_results(first, second))
    if isinstance(first, ExplainedText) and isinstance(second, ExplainedText):
        return list(pair_texts(first, second))
    raise TypeError("a text is not compared with a result")


def pair_texts(first: ExplainedText, second: ExplainedText) -> list[PairedTerm[ExplainedTerm]]:
    """The terms that two models make of one text, as `pair` orders them."""
    return _paired(*({item.term: (item, item.weight) for item in side.terms} for side in (first, second)))


def pair_results(first: ExplainedResult, second: ExplainedResult) -> list[PairedTerm[SharedTerm]]:
    """The same of the terms that add to one document's score."""
    return _paired(*({item.term: (item, item.contribution) for item in side.shared} for side in (first, second)))


def counts(pairs: Sequence[PairedTerm[Item]]) -> dict[str, int]:
    """How many terms are in both, and in one alone."""
    found = [pair.where for pair in pairs]
    return {where: found.count(where) for where in (BOTH, FIRST, SECOND)}


def common_share(pairs: Sequence[PairedTerm[Item]]) -> float:
    """How much the two agree, from 0 to 1: the part of all shares that both give to the same terms."""
    return sum(min(pair.first_share, pair.second_share) for pair in pairs)


def agreement(pairs: Sequence[PairedTerm[Item]]) -> str:
    """How much two models agree, as a sentence."""
    found = counts(pairs)
    return (
        f"{found[BOTH]} terms in both, {found[FIRST]} only in the first, {found[SECOND]} only in the second; "
        f"they agree on {common_share(pairs):.1%}"
    )


def _paired(
    first: Mapping[str, tuple[Item, float]], second: Mapping[str, tuple[Item, float]]
) -> list[PairedTerm[Item]]:
    totals = [sum(amount for _, amount in side.values()) for side in (first, second)]

    def part(side: Mapping[str, tuple[Item, float]], total: float, term: str) -> tuple[Item | None, float]:
        item, amount = side.get(term, (None, 0.0))
        return item, amount / total if total else 0.0

    found = []
    for term in dict.fromkeys([*first, *second]):
        (one, one_share), (other, other_share) = part(first, totals[0], term), part(second, totals[1], term)
        found.append(PairedTerm(term, one, other, one_share, other_share))
    return sorted(found, key=lambda pair: (-max(pair.first_share, pair.second_share), pair.term))
