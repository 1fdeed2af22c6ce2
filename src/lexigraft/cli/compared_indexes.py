"""The options of commands that put indexes side by side: which indexes, which queries, how many results."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lexigraft.cli.options import (
    IndexesOption,
    KeepOption,
    MovedDataOption,
    QueriesOption,
    ResultsOption,
    RunsOption,
    SystemsOption,
)

if TYPE_CHECKING:
    from lexigraft.core.cut import Keep

USUAL_RESULTS = (10, 1000)


@dataclass(frozen=True)
class ComparedIndexes:
    """Systems of runs, and indexes without a run, that are asked the same queries."""

    run: RunsOption = None
    index: IndexesOption = None
    system: SystemsOption = None
    keep: KeepOption = None
    queries: QueriesOption = None
    data: MovedDataOption = None
    k: ResultsOption = None

    def keeps(self) -> "list[Keep]":
        from lexigraft.comparison.index_stats_inputs import parse_keeps

        return parse_keeps(self.keep)

    def ks(self) -> list[int]:
        return distinct_results(self.k)


def distinct_results(k: list[int] | None) -> list[int]:
    """How many results are asked for: each number once, in the order given."""
    return list(dict.fromkeys(k or USUAL_RESULTS))
