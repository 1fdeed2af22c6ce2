"""A hybrid: the rankings of two systems of a run made into one."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class HybridSettings(Section, name="hybrid"):
    """Two systems of a run, fused query by query. What is auto is chosen by MRR@10 on validation queries."""

    of: tuple[str, ...] = setting(
        (),
        "the two systems, by name",
        "In a table `[systems.NAME]` of kind hybrid also `of = [...]`, beside `method`, `weight` and `depth`.",
        empty="the system that the run recommends, and the dense one or, where there is none, bm25",
    )
    method: str = setting(
        "auto",
        "how two rankings become one",
        one_of={
            "auto": "weighted or rrf, whichever is better",
            "weighted": "the sum of both systems' scores, each mapped to 0..1 over its candidates (min-max), by "
            "`hybrid.weight`; a document that one of them does not have among its candidates gets its lowest, 0",
            "rrf": "the sum of 1 / (60 + place), without weights",
        },
    )
    weight: float | str = setting(
        "auto",
        "weighted: what the first system's scores are multiplied by; the second's by the rest to 1",
        at_least=0,
        at_most=1,
        auto="the best of 0, 0.1, ... 1, so that on these queries a hybrid is never worse than the better of its two",
    )
    depth: int = setting(1000, "candidates of each system", at_least=1)

    def check_together(self) -> None:
        without = "auto, because reciprocal ranks (hybrid.method = rrf) have no weights"
        require(self.method != "rrf" or self.weight == "auto", "hybrid.weight", self.weight, without)
