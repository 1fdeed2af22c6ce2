"""The nearest rows of every row of a matrix of vectors, by cosine.

By products of rounded rows, which are exact (see `whole_rows`), the nearest and `BEYOND` more are found; the cosines of
those few, of the vectors as they were given, order them. Nothing of that depends on threads, on blocks or on the
library that multiplies. Up to `MOST_PRODUCTS` all rows are compared with all others, each pair once; above, with those
of near cells (see `cells`).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int32s
from lexigraft.core.errors import InputError, require
from lexigraft.core.processes import usable_cores
from lexigraft.core.progress import SILENT, Progress
from lexigraft.grafted.best_rows import LOWEST, BestRows
from lexigraft.grafted.cells import offer_by_cells
from lexigraft.grafted.whole_rows import AT_ONCE, Vectors, WholeRows, whole_blocks, whole_rows

BEYOND = 6  # rounding moves a cosine by some .0001: who is so many places behind the last is not one of the best
MOST_PRODUCTS = 40_000_000_000_000  # n * n * width, about five minutes of two cores: 320,000 rows of 384 numbers
BLOCK = 2048  # rows that are multiplied at a time: 16 MiB of products
ROWS_AT_ONCE = 256  # whose cosines are computed


class Neighbours(NamedTuple):
    """Of each row in descending order of the cosine, equal ones in that of their numbers: `rows` [n, k] and `cosines`
    [n, k]. Where there are fewer than k, the rest is -1 in both."""

    rows: Int32s
    cosines: Float32s


def nearest(vectors: Vectors, k: int = 10, progress: Progress = SILENT) -> Neighbours:
    """The k nearest other rows of each row of `vectors` [n, width], of float16 or float32. A row of zeros, which has no
    direction, has no neighbours and is nobody's; any other may have any length."""
    require(k >= 1, "k", k, "1 or more")
    whole = whole_rows(vectors, "vectors")
    best = BestRows.of(len(vectors), k + BEYOND)
    if len(whole.ids) ** 2 * vectors.shape[1] <= MOST_PRODUCTS:
        offer_all(best, whole, progress)
    else:
        offer_by_cells(best, whole, progress)
    return by_cosines(best.rows, (vectors, whole.lengths), (vectors, whole.lengths), k, progress)


def offer_all(best: BestRows, whole: WholeRows, progress: Progress = SILENT) -> None:
    """Every pair of rows once: a block with itself and with those behind it, so that a row meets others in order."""
    blocks = [whole.ids[start : start + BLOCK] for start in range(0, len(whole.ids), BLOCK)]
    pairs = [(first, second) for first in range(len(blocks)) for second in range(first, len(blocks))]
    for first, second in progress.track(pairs, "finding neighbours", len(pairs)):
        products = whole.take(blocks[first]) @ whole.take(blocks[second]).T
        if second == first:
            np.fill_diagonal(products, LOWEST)  # a row is none of its own neighbours
        best.offer(products, blocks[first], blocks[second], to_both=second > first)


def nearest_to(queries: Vectors, vectors: Vectors, k: int = 10, progress: Progress = SILENT) -> Neighbours:
    """The k rows of `vectors` that are nearest to each of `queries`, which are no rows of it. All are compared."""
    require(k >= 1, "k", k, "1 or more")
    asked = whole_rows(queries, "queries")
    if queries.shape[1:] != vectors.shape[1:]:
        raise InputError(
            f"queries of the shape {queries.shape}, vectors of {vectors.shape}: rows of both must be of one encoder"
        )
    best, lengths = BestRows.of(len(queries), k + BEYOND), np.empty(len(vectors))
    blocks = whole_blocks(vectors, "vectors", lengths)
    for others, ids in progress.track(blocks, "finding neighbours", -(-len(vectors) // AT_ONCE)):
        for start in range(0, len(asked.ids), BLOCK):
            some = asked.ids[start : start + BLOCK]
            best.offer(asked.take(some) @ others.T, some, ids, to_both=False)
    return by_cosines(best.rows, (queries, asked.lengths), (vectors, lengths), k, progress)


def by_cosines(
    found: Int32s,
    queries: tuple[Vectors, Float64s],
    vectors: tuple[Vectors, Float64s],
    k: int,
    progress: Progress = SILENT,
) -> Neighbours:
    """The k best of those `found` for each query, by cosines that are summed in float64 and rounded to float32. Both
    are given with their lengths."""
    rows, cosines = np.full((len(found), k), -1, np.int32), np.full((len(found), k), -1, np.float32)

    starts = range(0, len(found) if len(vectors[0]) else 0, ROWS_AT_ONCE)

    def order(start: int) -> None:
        part = slice(start, start + ROWS_AT_ONCE)
        some = found[part]
        asked, others = np.asarray(queries[0][part], np.float64), vectors[0][np.maximum(some, 0)].astype(np.float64)
        products = np.einsum("mw,mkw->mk", asked, others)
        lengths = queries[1][part, None] * vectors[1][some]
        exact = np.clip(products / np.where(some < 0, 1, lengths), -1, 1)
        exact = np.where(some < 0, -1, exact).astype(np.float32)
        places = np.lexsort((some, -exact, some < 0))[:, :k]
        rows[part], cosines[part] = (np.take_along_axis(kept, places, axis=1) for kept in (some, exact))

    with ThreadPoolExecutor(usable_cores()) as pool:
        for _ in progress.track(pool.map(order, starts), "ordering neighbours", len(starts)):
            pass
    return Neighbours(rows, cosines)
