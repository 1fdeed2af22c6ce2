"""Borda count (X2; corpus vocabulary study, 3.4): rankings of several systems become one, by points for places.

The document at place p of a ranking gets depth - p + 1 points of it, one below the first `depth` none; its score is the
sum. The study makes one ranking of twelve in this way, and takes its first ten documents for relevant.
"""

from collections import Counter
from collections.abc import Sequence

from lexigraft.core.errors import SettingError
from lexigraft.core.types import Ranking
from lexigraft.search.fusion import by_query, check_fusion, require_distinct

USUAL_DEPTH = 50


def count_borda(rankings: Sequence[Ranking], depth: int = USUAL_DEPTH, keep: int | None = None) -> Ranking:
    """The ranking of one query by points, ties by `doc_id`, its first `keep` (None: all); a document without points is
    not in it. Raises `InputError` for a ranking that holds a document twice."""
    check_borda(depth, keep)
    points: Counter[str] = Counter()
    for ranking in rankings:
        require_distinct(ranking)
        for place, doc_id in enumerate(ranking.doc_ids[:depth], 1):
            points[doc_id] += depth - place + 1
    best = sorted(points, key=lambda doc_id: (-points[doc_id], doc_id))[:keep]
    query_id = rankings[0].query_id if rankings else ""
    return Ranking(query_id, tuple(best), tuple(float(points[doc_id]) for doc_id in best))


def count_borda_runs(
    runs: Sequence[Sequence[Ranking]], depth: int = USUAL_DEPTH, keep: int | None = None
) -> list[Ranking]:
    """One ranking for every query that any run has, in the order in which they are met; a run that lacks a query gives
    it no points."""
    check_borda(depth, keep)
    return [count_borda(rankings, depth, keep) for rankings in by_query(runs)]


def check_borda(depth: int, keep: int | None) -> None:
    """Raise where a setting of a count is not allowed."""
    if depth < 1:
        raise SettingError(f"borda depth = {depth} is not allowed: 1 or more")
    check_fusion(0, 0, None, keep)
