"""The settings of everything made from click logs: one frozen dataclass a step, checked when made."""

from dataclasses import dataclass
from typing import Any

from lexigraft.core.errors import require

CORRECTIONS = ("none", "power", "estimated")
MOST_POSITIONS = 1000
CANDIDATES_A_QUERY = 5  # many have no negative


def _require_at_least(settings: Any, least: int, *names: str) -> None:
    for name in names:
        require(getattr(settings, name) >= least, name, getattr(settings, name), f"{least} or more")


@dataclass(frozen=True)
class Columns:
    """What a log calls its columns. Without `doc_id`, a document is its title; without `impressions`, a line is no
    evidence of how often something was shown and not clicked."""

    query: str = "query"
    title: str = "title"
    clicks: str = "clicks"
    position: str = "position"
    doc_id: str | None = None
    impressions: str | None = None

    def __post_init__(self) -> None:
        names = self.wanted
        require(len(set(names)) == len(names), "columns", ", ".join(names), "each column may have one role only")

    @property
    def wanted(self) -> list[str]:
        """The names that are given, in the order of the fields."""
        every = (self.query, self.title, self.clicks, self.position, self.doc_id, self.impressions)
        return [name for name in every if name is not None]


@dataclass(frozen=True)
class ClickFilter:
    """A clear signal: several documents of a query, shown near the top, each clicked several times."""

    max_position: int = 10  # what was shown further down does not count
    min_clicks: int = 2  # of a document for a query, at those positions together
    min_documents: int = 2  # of a query, that have so many clicks

    def __post_init__(self) -> None:
        _require_at_least(self, 1, "max_position", "min_clicks", "min_documents")
        require(self.max_position <= MOST_POSITIONS, "max_position", self.max_position, f"at most {MOST_POSITIONS}")


@dataclass(frozen=True)
class Correction:
    """How clicks become labels: as they are, or each divided by how likely its position was to be looked at."""

    method: str = "none"
    eta: float = 1.0  # power: position k is looked at with probability (1/k)**eta
    max_weight: float = 20.0  # no click counts for more

    def __post_init__(self) -> None:
        require(self.method in CORRECTIONS, "correct", self.method, f"one of {', '.join(CORRECTIONS)}")
        require(0 <= self.eta <= 10, "eta", self.eta, "0 to 10")
        require(1 <= self.max_weight < float("inf"), "max_weight", self.max_weight, "1 or more")


@dataclass(frozen=True)
class SetSizes:
    """Queries taken from every cluster; all others train."""

    test_queries: int = 30
    test_distractors: int = 90
    valid_queries: int = 1
    valid_distractors: int = 3

    def __post_init__(self) -> None:
        _require_at_least(self, 1, "test_queries", "valid_queries")
        _require_at_least(self, 0, "test_distractors", "valid_distractors")

    @property
    def per_cluster(self) -> int:
        return self.test_queries + self.test_distractors + self.valid_queries + self.valid_distractors


@dataclass(frozen=True)
class EvalSettings:
    """The evaluation set of hard negatives."""

    queries: int = 3000  # a third of them from each tercile
    candidates: int = 0  # drawn evenly from the clusters and scored; 0: five for each query wanted
    positives: int = 3
    negatives: int = 10
    threshold: float = 0.5  # a negative matches more than this share of the query's terms

    def __post_init__(self) -> None:
        _require_at_least(self, 3, "queries")
        _require_at_least(self, 0, "candidates")
        _require_at_least(self, 1, "positives", "negatives")
        require(0 <= self.threshold < 1, "threshold", self.threshold, "0 or more and less than 1")

    @property
    def n_candidates(self) -> int:
        return self.candidates or CANDIDATES_A_QUERY * self.queries


@dataclass(frozen=True)
class Simulation:
    """A click log of which the truth is known."""

    lines: int = 200_000
    topics: int = 50
    eta: float = 1.0  # position k is looked at with probability (1/k)**eta

    def __post_init__(self) -> None:
        _require_at_least(self, 1, "lines", "topics")
        require(0 <= self.eta <= 10, "eta", self.eta, "0 to 10")
