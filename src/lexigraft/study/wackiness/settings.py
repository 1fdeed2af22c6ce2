"""The settings of a study of wackiness."""

import os
from dataclasses import dataclass

from lexigraft.core.errors import SettingError
from lexigraft.core.settings.section import Section, setting

QUERY_SIDE, DOCUMENT_SIDE = "queries", "documents"


@dataclass(frozen=True)
class WackinessSettings(Section):
    """How wackiness is measured. Each of `runs` draws has `draw` of the inputs, or half of them where there are fewer
    than twice as many."""

    queries: int = setting(20_000, "expand at most so many training queries", at_least=0, zero="none")
    documents: int = setting(0, "expand at most so many documents, taken as queries", at_least=0, zero="none")
    k: int = setting(100, "documents an input finds, which its terms are sought in", at_least=1)
    bins: int = setting(100, "bins of the curve", at_least=1)
    runs: int = setting(10, "how often inputs are drawn, for the spread of the area", at_least=2)
    draw: int = setting(10_000, "inputs of a draw", at_least=1)
    seed: int = setting(0, "decides everything that is drawn", at_least=0)
    removal: bool = setting(True, "measure queries without their wackiest terms")
    removal_queries: int = setting(1000, "at most so many judged queries for that, evenly spread", at_least=1)
    threads: int = setting(0, "threads that search", at_least=0, zero="one per core")

    def check_together(self) -> None:
        if not self.queries and not self.documents:
            raise SettingError("neither queries nor documents are to be expanded; give one of them a number above 0")

    @property
    def sides(self) -> list[str]:
        return [side for side, n in ((QUERY_SIDE, self.queries), (DOCUMENT_SIDE, self.documents)) if n]

    @property
    def n_threads(self) -> int:
        return self.threads or os.cpu_count() or 1
