"""Whether vectors stand in the order of the documents, which a file without ids cannot say: texts with near vectors
must share words.

For some documents of each fifth of the collection the nearest of 4,000 others is found, by vectors and by words. How
much more of a document's words the first one shares than any does, divided by the same of the second one, is the
agreement. With vectors of USE, MiniLM and a decomposition it was .38 to .93 in each fifth of ten collections, .06 at
most where rows were shuffled, or sorted by id. Where all stood one row too low it was .16 at most, but up to .40 on
medquad, where answers about one disease stand beside each other: that is not seen.
"""

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Float64s, Int64s
from lexigraft.core.errors import InputError
from lexigraft.core.types import SparseMatrix

log = logging.getLogger(__name__)

NONE, LITTLE = 0.1, 0.25  # an agreement below the first is refused, one below the second is said
PARTS, QUERIES, CANDIDATES = 5, 100, 4000
FEWEST = 50  # documents of a part, of which less is said by luck


def require_order(vectors: NDArray[Any], words: SparseMatrix, name: str) -> None:
    """Raise where rows of `vectors`, which are of unit length or zeros, are not of the documents whose words are in the
    same rows of `words`; warn where that is likely. Nothing is said of fewer than `FEWEST` documents, and where no two
    share words."""
    rows = np.flatnonzero(np.diff(words.indptr) > 0)
    parts = np.array_split(rows, max(1, min(PARTS, len(rows) // FEWEST))) if len(rows) >= FEWEST else []
    candidates = _spread(rows, CANDIDATES)
    found = [agreement(vectors, words, _spread(part, QUERIES), candidates) for part in parts]
    low = [(part, share) for part, share in zip(parts, found, strict=True) if share < LITTLE]
    if not low:
        return
    refused, (part, share) = min(share for _, share in low) < NONE, low[0]
    text = (
        f"{name}: the vectors from row {part[0]:,} (from 0, {words.row_ids[part[0]]!r}) or some row behind it on "
        f"{'do not seem to be' if refused else 'may not be'} those of the documents in their rows: in the rows to "
        f"{part[-1]:,} texts with near vectors share {max(0.0, share):.0%} of the words that they can share, and 40% "
        "or more are usual. Write the rows in the collection's order, or Parquet with ids"
    )
    if refused:
        raise InputError(text)
    log.warning("%s", text)


def agreement(vectors: NDArray[Any], words: SparseMatrix, queries: Int64s, candidates: Int64s) -> float:
    """0 where near vectors say nothing of words, 1 where they say as much as words do; NaN where no words are shared.
    No document is its own neighbour."""
    near = np.asarray(vectors[queries], np.float32) @ np.asarray(vectors[candidates], np.float32).T
    shared = (_unit_rows(words, queries) @ _unit_rows(words, candidates).T).toarray()
    own = queries[:, None] == candidates[None]
    usual = np.where(own, 0, shared).sum(1) / np.maximum(1, (~own).sum(1))
    near[own] = shared[own] = -2
    by_vectors = shared[np.arange(len(queries)), near.argmax(1)]
    possible = float((shared.max(1) - usual).sum())
    return float((by_vectors - usual).sum()) / possible if possible > 0 else float("nan")


def _unit_rows(words: SparseMatrix, rows: Int64s) -> Any:
    """Some rows, of unit length."""
    import scipy.sparse as sp

    found: list[tuple[NDArray[np.int32], Float32s]] = [words.row(row) for row in rows.tolist()]
    indptr = np.cumsum([0, *(len(ids) for ids, _ in found)])
    weights: list[Float64s] = [weight / np.linalg.norm(weight.astype(np.float64)) for _, weight in found]
    ids = np.concatenate([ids for ids, _ in found])
    return sp.csr_matrix((np.concatenate(weights), ids, indptr), (len(rows), words.n_terms))


def _spread(rows: Int64s, n: int) -> Int64s:
    """At most so many of them, at even distances."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(np.int64))]
