"""Static pruning: how many terms of a query and of a document are kept."""

from dataclasses import dataclass

from lexigraft.core.cut import DocumentCut
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class PruneSettings(Section, name="prune"):
    """Static pruning: pairs (qk, dk) of terms kept a query and a document, one report row each; 0 keeps all. "m0.8"
    keeps the fewest of the heaviest terms that have this share of the mass, the sum of all weights."""

    budgets: tuple[tuple[DocumentCut, DocumentCut], ...] = setting(
        ((0, 0), (10, 40), (7, 20), (5, 20), (5, 10)), "pairs (qk, dk) of terms that the learned model keeps"
    )
    lexical: tuple[tuple[DocumentCut, DocumentCut], ...] = setting(((0, 0),), "pairs (qk, dk) of terms that BM25 keeps")
    budget: float | str = setting(
        "bm25",
        "what a search of the run may cost, in FLOPS: it is searched with the (qk, dk) that is best, by MRR@10 on "
        "validation queries, of those that cost no more there",
        more_than=0,
        words={
            "bm25": "`prune.cost` times what BM25 costs on the same queries",
            "terms": "the first pair of `prune.budgets`, whatever it costs",
            "none": "nothing is chosen, whole vectors are searched",
        },
    )
    cost: float | str = setting(
        "auto",
        "the share of BM25's FLOPS that a search may cost, where `prune.budget` is bm25",
        "Also `--cost`.",
        more_than=0,
        auto="one half; 1 where no model writes queries",
    )
    by: str = setting(
        "count",
        "how documents may be cut where (qk, dk) are chosen for a cost",
        "[What was measured](explanation/index_and_search.md#pruning).",
        one_of={
            "count": "to a number of terms, the same for all",
            "mass": "to the fewest terms that have a share of the document's mass; queries may be, too",
            "both": "in the better of these ways",
        },
    )
