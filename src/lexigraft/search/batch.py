"""Many queries, one after the other or on several threads: kernels hold no lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from lexigraft.core.errors import require
from lexigraft.core.types import Ranking


def rank_all(rank: Callable[[int], Ranking], n_queries: int, threads: int) -> list[Ranking]:
    """rank(0), rank(1) and so on, in this order, on so many threads."""
    require(threads >= 1, "threads", threads, "1 or more")
    if threads == 1:
        return [rank(row) for row in range(n_queries)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(rank, range(n_queries)))
