"""Many queries searched at once, on several threads, as a rectangle of rows: for what searches the same again and
again and names no document."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import SparseMatrix, require_same_vocabulary
from lexigraft.search.searching import Searching

NOTHING = -1  # behind the last row of a ranking
QUERIES_AT_ONCE = 32


def search_many(
    searcher: Searching, queries: SparseMatrix, k: int, threads: int = 1, rows: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """[queries, k] the rows found for each query, best first, `NOTHING` behind them; `rows`: of these queries alone."""
    index = searcher.index
    require_same_vocabulary("the queries", queries.vocab_fingerprint, "the index", index.meta.vocab_fingerprint)
    asked = np.arange(queries.n_rows) if rows is None else rows
    found = np.full((len(asked), min(k, index.n_documents)), NOTHING, np.int32)

    def some(first: int) -> None:
        for place in range(first, min(first + QUERIES_AT_ONCE, len(asked))):
            ordinals, _ = searcher.search_ordinals(*queries.row(int(asked[place])), k)
            found[place, : len(ordinals)] = ordinals

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(some, range(0, len(asked), QUERIES_AT_ONCE)):
            pass
    return found
