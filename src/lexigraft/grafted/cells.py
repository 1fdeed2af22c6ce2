"""The nearest rows of so many that comparing all with all takes too long: in near cells, and among what those found.

Centres are found in a sample by k-means on the sphere; a row's cell is that of the nearest one. Each row is compared
with the rows of the `VISITED` cells that are nearest to it, and either may become the other's neighbour; then with all
that its neighbours found. Sums of whole numbers are exact here, too: the same is found wherever it is computed.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.processes import usable_cores
from lexigraft.core.progress import SILENT, Progress
from lexigraft.grafted.best_rows import LOWEST, BestRows, offer_neighbours_of_neighbours
from lexigraft.grafted.whole_rows import WholeRows, whole_rows

VISITED = 16  # cells by a row
PER_ROOT = 4  # cells there are, times the root of the number of rows
SAMPLED = 32  # rows a cell that k-means sees
ROUNDS = 4  # of k-means
BLOCK = 4096  # rows that are multiplied with as many


def offer_by_cells(best: BestRows, whole: WholeRows, progress: Progress = SILENT) -> None:
    """Let every row have its products with the rows that are probably near to it."""
    n_cells = min(len(whole.ids), int(PER_ROOT * len(whole.ids) ** 0.5))
    centres = centres_of(whole, n_cells, progress)
    near = cells_near(whole, centres, min(VISITED, n_cells), progress)
    members, visitors = rows_by_cell(near[:, :1], n_cells), rows_by_cell(near, n_cells)
    cells = zip(members, visitors, strict=True)
    for inside, visiting in progress.track(cells, "finding neighbours", n_cells):
        # A cell that is much larger than others, such as one of a text that comes again and again, is cut, or it would
        # take as long as comparing all with all.
        parts = max(1, -(-len(inside) // BLOCK))
        for some, all_visiting in zip(np.array_split(inside, parts), np.array_split(visiting, parts), strict=True):
            others = whole.ids[some]
            other_rows = whole.take(others).T
            for start in range(0, len(all_visiting), BLOCK):
                rows = whole.ids[all_visiting[start : start + BLOCK]]
                products = whole.take(rows) @ other_rows
                _, at, own = np.intersect1d(rows, others, assume_unique=True, return_indices=True)
                products[at, own] = LOWEST
                best.offer(products, rows, others, to_both=True)
    known = best.rows.copy()
    blocks = [whole.ids[start : start + BLOCK] for start in range(0, len(whole.ids), BLOCK)]

    def refine(rows: Int64s) -> None:
        offer_neighbours_of_neighbours(best.products, best.rows, whole.numbers, known, rows)

    with ThreadPoolExecutor(usable_cores()) as pool:  # each row is written by one of them
        for _ in progress.track(pool.map(refine, blocks), "comparing neighbours", len(blocks)):
            pass


def rows_by_cell(near: Int32s, n_cells: int) -> list[Int32s]:
    """For each cell, in order, the rows of `near` [n, count] that name it."""
    from scipy.sparse import csr_matrix

    ends = np.arange(0, near.size + 1, near.shape[1])
    by_cell = csr_matrix((np.ones(near.size, np.int8), near.ravel(), ends), (len(near), n_cells)).tocsc()
    return np.split(by_cell.indices, by_cell.indptr[1:-1])


def cells_near(whole: WholeRows, centres: Float32s, count: int, progress: Progress = SILENT) -> Int32s:
    """[ids, count]: the cells that are nearest to each row, nearest first."""
    near, cells = BestRows.of(len(whole.ids), count), np.arange(len(centres))
    starts = range(0, len(whole.ids), BLOCK)
    for start in progress.track(starts, "finding cells", len(starts)):
        rows = whole.take(whole.ids[start : start + BLOCK])
        near.offer(rows @ centres.T, np.arange(start, start + len(rows)), cells, to_both=False)
    return near.rows


def centres_of(whole: WholeRows, n_cells: int, progress: Progress = SILENT) -> Float32s:
    """Centres of cells, rounded as rows are, from evenly spaced rows."""
    places = np.linspace(0, len(whole.ids) - 1, min(len(whole.ids), SAMPLED * n_cells)).astype(np.int64)
    sample = whole.numbers[whole.ids[places]]
    centres = sample[np.random.default_rng(0).permutation(len(sample))[:n_cells]].astype(np.float32)
    for _ in progress.track(range(ROUNDS), "placing cells", ROUNDS):
        starts = range(0, len(sample), BLOCK)
        cell = np.concatenate([(sample[start : start + BLOCK] @ centres.T).argmax(axis=1) for start in starts])
        order = np.argsort(cell, kind="stable")
        filled, firsts = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(sample[order], firsts, axis=0, dtype=np.int64)
        moved = whole_rows(sums.astype(np.float64), "centres")
        centres[filled[moved.ids]] = moved.take(moved.ids)
    return centres
