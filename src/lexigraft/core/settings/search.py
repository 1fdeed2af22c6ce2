"""How the measured rankings are searched for."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting

SEARCH_METHODS = ("auto", "exhaustive", "maxscore", "blockmax_wand", "sweep", "touched")
TIMED_RESULTS = 10  # results of the searches that are timed: a second step needs at least as many candidates


@dataclass(frozen=True)
class SearchSettings(Section, name="search"):
    """How the measured rankings are searched for."""

    k: int = setting(1000, "how deep the measured rankings go", at_least=1)
    method: str = setting(
        "auto",
        "the search method: all give the same ranking",
        one_of=SEARCH_METHODS,
        auto="the fastest for each query",
    )
    overlap: float = setting(
        0.0,
        "only documents that hold this share of the query's terms are scored",
        "More: [search](howto/search.md).",
        at_least=0,
        at_most=1,
        zero="all that hold one",
    )
    two_step: int = setting(
        0,
        "so many candidates of the pruned search are ranked again, by the whole query and the documents' full vectors",
        "At least `search.k`, and 10.",
        at_least=0,
        zero="none",
    )

    def check_together(self) -> None:
        deep = f"0 (off), or as many as search.k, which is {self.k}, or more, and at least the ten that are timed"
        enough = self.two_step == 0 or self.two_step >= max(self.k, TIMED_RESULTS)
        require(enough, "search.two_step", self.two_step, deep)
