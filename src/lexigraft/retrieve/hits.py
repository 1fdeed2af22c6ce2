"""What a search returns, and what a text becomes."""

from typing import NamedTuple


class Hit(NamedTuple):
    """A document that was found."""

    rank: int
    doc_id: str
    score: float
    title: str


class WeightedTerm(NamedTuple):
    """A term of a text's vector; `own`: the text itself holds it, the others were added by the model."""

    term: str
    weight: float
    own: bool
