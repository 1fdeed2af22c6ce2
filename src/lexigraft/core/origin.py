"""Where the weight of a term in a grafted document comes from: its own text, other documents near it, its vector."""

from collections.abc import Iterable
from typing import Any, NamedTuple

OWN, BORROWED, VECTOR = KINDS = ("own", "borrowed", "vector")
SHOWN_LENDERS = 3


class Lender(NamedTuple):
    """Another document, from which `points` of a weight were borrowed."""

    doc_id: str
    title: str
    points: int


class Origin(NamedTuple):
    """The parts of a number of points: those of the document's own word, those of each lender, who lent most first, and
    those of the document's vector."""

    own: int
    lenders: tuple[Lender, ...]
    vector: int

    @property
    def borrowed(self) -> int:
        return sum(lender.points for lender in self.lenders)

    @property
    def points(self) -> int:
        return self.own + self.borrowed + self.vector

    @property
    def parts(self) -> dict[str, int]:
        return {OWN: self.own, BORROWED: self.borrowed, VECTOR: self.vector}

    @property
    def kind(self) -> str:
        """The document's own word, however much was added to it; of others, where most comes from."""
        return OWN if self.own else BORROWED if self.borrowed >= self.vector else VECTOR

    @property
    def said(self) -> str:
        """Such as "own 61%, borrowed 27% (d12, d40), vector 12%"."""
        shown = {name: f"{name} {part / self.points:.0%}" for name, part in self.parts.items() if part}
        if BORROWED in shown:
            shown[BORROWED] += f" ({self.said_of_lenders})"
        return ", ".join(shown.values())

    @property
    def said_of_lenders(self) -> str:
        more = len(self.lenders) - SHOWN_LENDERS
        named = ", ".join(lender.doc_id for lender in self.lenders[:SHOWN_LENDERS])
        return f"{named} and {more} more" if more > 0 else named

    def times(self, factor: int) -> "Origin":
        """The same parts of so many times as many points."""
        lenders = tuple(lender._replace(points=factor * lender.points) for lender in self.lenders)
        return Origin(factor * self.own, lenders, factor * self.vector)

    def as_json(self) -> dict[str, Any]:
        return {**self.parts, "lenders": [lender._asdict() for lender in self.lenders]}


def sum_of(origins: Iterable[Origin]) -> Origin:
    """All parts added up, those of each lender by its id."""
    found = list(origins)
    lent: dict[str, Lender] = {}
    for lender in (lender for origin in found for lender in origin.lenders):
        before = lent.get(lender.doc_id)
        lent[lender.doc_id] = lender if before is None else before._replace(points=before.points + lender.points)
    lenders = sorted(lent.values(), key=lambda lender: -lender.points)
    return Origin(sum(one.own for one in found), tuple(lenders), sum(one.vector for one in found))
