"""A result explained (E2): what each shared term adds to the score, and what produced it on either side."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.origin import Origin, sum_of
from lexigraft.core.types import Explanation, TermSource, TracedText, WholeScore
from lexigraft.explain.texts import ExplainedTerm, ExplainedText, amount_of_words


class DocumentSide(NamedTuple):
    """The text of what was found: the terms it holds itself, and what in it produced the shared ones."""

    own: NDArray[np.int32]
    traced: TracedText


class SharedTerm(NamedTuple):
    """`share` is its part of the score. What is said of the document is None where its text is not at hand. `origin`:
    of a grafted document, where the points come from."""

    term: str
    query_weight: float
    document_weight: float
    contribution: float
    share: float
    points: int
    query_own: bool
    document_own: bool | None
    query_source: TermSource | None
    document_source: TermSource | None
    wackiness: float | None
    origin: Origin | None = None


@dataclass(frozen=True)
class ExplainedResult:
    """`shared` by contribution, largest first; their `points` sum to the engine's integer `points`, and that times
    `scale` is the score: of a hybrid, the part of it that has terms; `whole` then says what each part adds."""

    query: ExplainedText
    doc_id: str
    title: str
    score: float
    points: int
    scale: float
    shared: tuple[SharedTerm, ...]
    document: TracedText | None = None
    whole: WholeScore | None = None

    @property
    def score_of_terms(self) -> float:
        """What the shared terms add up to."""
        return self.score if self.whole is None else self.points * self.scale

    @property
    def origin(self) -> Origin | None:
        """Of a grafted document, where all points together come from."""
        known = [item.origin for item in self.shared if item.origin is not None]
        return sum_of(known) if known else None

    @property
    def query_word_amounts(self) -> list[float]:
        """How much of the score each word of the query produced."""
        return amount_of_words(self.query.traced, ((item.query_source, item.contribution) for item in self.shared))

    @property
    def document_word_amounts(self) -> list[float]:
        """How much of the score each word of the document produced."""
        return amount_of_words(self.document, ((item.document_source, item.contribution) for item in self.shared))


def explain_result(
    why: Explanation, query: ExplainedText, title: str, document: DocumentSide | None = None
) -> ExplainedResult:
    """What `why` says of a document's score, beside the query as it was read and, where it is at hand, the document."""
    asked = {item.term: item for item in query.terms}
    held = set() if document is None else set(document.own.tolist())
    shared = tuple(
        SharedTerm(
            item.term,
            item.query_weight,
            item.document_weight,
            item.contribution,
            item.points / why.points,
            item.points,
            asked[item.term].own,
            None if document is None else item.term_id in held,
            asked[item.term].source,
            None if document is None else document.traced.sources[item.term_id],
            asked[item.term].wackiness,
            item.origin,
        )
        for item in why.contributions
    )
    traced = None if document is None else document.traced
    return ExplainedResult(query, why.doc_id, title, why.score, why.points, why.scale, shared, traced)


def query_source(item: ExplainedTerm | SharedTerm) -> TermSource | None:
    """What in the query's text produced a term, whether all its terms are explained or those it shares."""
    return item.source if isinstance(item, ExplainedTerm) else item.query_source
