"""The settings of everything made from click logs: one frozen dataclass a step, checked when made."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting

CORRECTIONS = {
    "none": "a label is the number of clicks",
    "power": "a click at position k counts k**eta times",
    "estimated": "how often a click counts is learned from documents shown at several positions (needs impressions)",
}
MOST_POSITIONS = 1000
CANDIDATES_A_QUERY = 5  # many have no negative


def _attention(meaning: str) -> float:
    return setting(1.0, meaning, at_least=0, at_most=10)


@dataclass(frozen=True)
class Columns(Section):
    """What a log calls its columns. Without `doc_id`, a document is its title; without `impressions`, a line is no
    evidence of how often something was shown and not clicked."""

    query: str = setting("query", "what was asked")
    title: str = setting("title", "the document's title")
    clicks: str = setting("clicks", "how often it was clicked")
    position: str = setting("position", "where it was shown; the top is 1")
    doc_id: str | None = setting(None, "what tells documents apart, such as a URL; else the title does")
    impressions: str | None = setting(None, "how often it was shown, clicked or not")

    def check_together(self) -> None:
        names = self.wanted
        require(len(set(names)) == len(names), "columns", ", ".join(names), "each column may have one role only")

    @property
    def wanted(self) -> list[str]:
        """The names that are given, in the order of the fields."""
        every = (self.query, self.title, self.clicks, self.position, self.doc_id, self.impressions)
        return [name for name in every if name is not None]


@dataclass(frozen=True)
class ClickFilter(Section):
    """A clear signal: several documents of a query, shown near the top, each clicked several times."""

    max_position: int = setting(10, "lines of lower positions are dropped", at_least=1, at_most=MOST_POSITIONS)
    min_clicks: int = setting(
        2, "a document with fewer for a query, at those positions together, is dropped", at_least=1
    )
    min_documents: int = setting(2, "a query with fewer such documents is dropped", at_least=1)


@dataclass(frozen=True)
class Correction(Section):
    """How clicks become labels: as they are, or each divided by how likely its position was to be looked at."""

    method: str = setting("none", "how position bias is corrected", one_of=CORRECTIONS, called="correct")
    eta: float = _attention("how fast attention falls, for the correction 'power': position k gets (1/k)**eta of it")
    max_weight: float = setting(20.0, "no click counts for more than this", at_least=1)


@dataclass(frozen=True)
class SetSizes(Section):
    """Queries taken from every cluster; all others train."""

    test_queries: int = setting(30, "test queries of each cluster", at_least=1)
    test_distractors: int = setting(90, "queries of each cluster whose documents make the test harder", at_least=0)
    valid_queries: int = setting(1, "validation queries of each cluster", at_least=1)
    valid_distractors: int = setting(
        3, "queries of each cluster whose documents make the validation harder", at_least=0
    )

    @property
    def per_cluster(self) -> int:
        return self.test_queries + self.test_distractors + self.valid_queries + self.valid_distractors


@dataclass(frozen=True)
class EvalSettings(Section):
    """The evaluation set of hard negatives."""

    queries: int = setting(3000, "how many queries; a third from each level of difficulty", at_least=3)
    candidates: int = setting(
        0,
        "queries drawn evenly from the clusters first, and scored",
        at_least=0,
        zero=f"{CANDIDATES_A_QUERY} for each query wanted",
    )
    positives: int = setting(3, "positives of a query at most, the best by label", at_least=1)
    negatives: int = setting(10, "negatives of a query at most, the best matching", at_least=1)
    threshold: float = setting(
        0.5, "a negative holds more than this share of the query's words", at_least=0, less_than=1
    )

    @property
    def n_candidates(self) -> int:
        return self.candidates or CANDIDATES_A_QUERY * self.queries


@dataclass(frozen=True)
class Simulation(Section):
    """A click log of which the truth is known."""

    lines: int = setting(200_000, "lines of the log", at_least=1)
    topics: int = setting(50, "subjects with words of their own", at_least=1)
    eta: float = _attention("position k is looked at with probability (1/k)**eta")
