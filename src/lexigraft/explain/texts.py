"""A text explained (E2): the terms it becomes, which of them it holds itself, and what in it produced each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.types import TermSource, TracedText, Vocabulary

Scores = NDArray[np.float32]
WITHOUT_TERMS = "A dense system compares meanings as a whole: a text has no terms there."


class ExplainedTerm(NamedTuple):
    """`own`: the text itself holds it, and the model added the others. `source` is None where the encoder does not say,
    `wackiness` where no score is known."""

    term: str
    weight: float
    own: bool
    source: TermSource | None
    wackiness: float | None


@dataclass(frozen=True)
class ExplainedText:
    """`terms` by weight, heaviest first. `scored`: wackiness scores were given; `wackiness` is the mean of those of the
    terms that were added, by their weights, and None where no such term has one."""

    text: str
    terms: tuple[ExplainedTerm, ...]
    traced: TracedText | None = None
    wackiness: float | None = None
    scored: bool = False
    unknown: tuple[str, ...] = ()  # words of the text that no term stands for
    notices: tuple[str, ...] = ()  # what to tell whoever asked this, a line each
    has_terms: bool = True  # a dense system reads a text as a whole

    @property
    def said_of_wackiness(self) -> str:
        """How wacky the added terms are, as a sentence; empty where there are no scores."""
        if not self.scored:
            return ""
        if self.wackiness is not None:
            return f"What was added is {self.wackiness:.3f} wacky, by weight (0: not at all, 1: as wacky as any term)."
        if all(term.own for term in self.terms):
            return "There are no expansion terms: nothing was added that could be wacky."
        return "None of the terms that were added has a wackiness score."

    @property
    def word_weights(self) -> list[float]:
        """How much weight each word of the text produced."""
        return amount_of_words(self.traced, ((term.source, term.weight) for term in self.terms))


def explain_text(
    text: str,
    row: tuple[NDArray[np.int32], NDArray[np.float32]],
    own: NDArray[np.int32],
    vocabulary: Vocabulary,
    traced: TracedText | None = None,
    scores: Scores | None = None,
) -> ExplainedText:
    """The terms and weights of `row`, of which the text holds `own`. `scores`, one for each term of the vocabulary and
    NaN where there is none, say how wacky a term is."""
    require_scores_fit(scores, vocabulary)
    held = set(own.tolist())
    found = [
        ExplainedTerm(
            vocabulary.terms[term_id],
            weight,
            term_id in held,
            traced.sources[term_id] if traced is not None else None,
            score_of(scores, term_id),
        )
        for term_id, weight in zip(row[0].tolist(), row[1].tolist(), strict=True)
    ]
    found.sort(key=lambda item: (-item.weight, item.term))
    added = [(item.wackiness, item.weight) for item in found if not item.own]
    return ExplainedText(text, tuple(found), traced, weighted_mean(added), scores is not None)


def require_scores_fit(scores: Scores | None, vocabulary: Vocabulary) -> None:
    """Raise unless there is a score for every term, or none at all."""
    if scores is not None and len(scores) != len(vocabulary):
        raise InputError(
            f"there are {len(scores)} wackiness scores for a vocabulary of {len(vocabulary)} terms; they are "
            "another model's: compute those of this one"
        )


def score_of(scores: Scores | None, term_id: int) -> float | None:
    """The wackiness of a term; None where it has none."""
    return None if scores is None or np.isnan(scores[term_id]) else float(scores[term_id])


def weighted_mean(scored: Iterable[tuple[float | None, float]]) -> float | None:
    """The mean of (score, weight) pairs by weight, those without a score left out; None where none has one."""
    known = [(score, weight) for score, weight in scored if score is not None and weight > 0]
    total = sum(weight for _, weight in known)
    return sum(score * weight for score, weight in known) / total if known else None


def amount_of_words(traced: TracedText | None, produced: Iterable[tuple[TermSource | None, float]]) -> list[float]:
    """What each word of a text produced in all: the amounts added up by the word they came from."""
    amounts = [0.0] * (0 if traced is None else len(traced.spans))
    for source, amount in produced:
        if traced is not None and source is not None and source.word >= 0:
            amounts[source.word] += amount
    return amounts


def shown_source(source: TermSource | None) -> str:
    """What produced a term, for people: a word, whether the term is that word itself, or something that is no word."""
    if source is None:
        return ""
    return {"own": f"{source.token} (itself)", "unknown": "?"}.get(source.kind, source.token)
