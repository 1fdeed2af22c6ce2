"""The best few of many products, kept while blocks of them go by. Of equal ones those that come first stay."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Int32s, Int64s
from lexigraft.core.compiled import compiled, worth_loading

LOWEST = np.float32(-np.inf)
AT_ONCE = 32  # products that are compared before any of them is looked at


@dataclass(frozen=True)
class BestRows:
    """Of each row the best so far, descending: `products` [n, depth], and `rows` [n, depth], -1 where there is none."""

    products: Float32s
    rows: Int32s

    @classmethod
    def of(cls, n: int, depth: int) -> "BestRows":
        return cls(np.full((n, depth), LOWEST, np.float32), np.full((n, depth), -1, np.int32))

    def offer(self, products: Float32s, rows: Int64s, others: Int64s, to_both: bool) -> None:
        """Let `rows` have their `products` with the `others`; with `to_both` the others have theirs with `rows`, too.
        One that a row has already stays as it is: two rows have the same product whenever they meet."""
        if worth_loading(4 * products.size):
            offer_by_kernel(self.products, self.rows, products, rows, others, to_both)
            return
        offer_by_numpy(self, products, rows, others)
        if to_both:
            offer_by_numpy(self, products.T, others, rows)


def offer_by_numpy(best: BestRows, products: NDArray[np.float32], rows: Int64s, others: Int64s) -> None:
    depth, new = best.rows.shape[1], products.copy()
    for known in best.rows[rows].T:
        new[known[:, None] == others] = LOWEST
    together = np.concatenate([best.products[rows], new], axis=1)
    named = np.concatenate([best.rows[rows], np.broadcast_to(others.astype(np.int32), products.shape)], axis=1)
    order = np.argsort(-together, axis=1, kind="stable")[:, :depth]
    best.products[rows] = np.take_along_axis(together, order, axis=1)
    best.rows[rows] = np.take_along_axis(named, order, axis=1)


@compiled
def insert(products: Float32s, rows: Int32s, product: np.float32, row: int | np.int64) -> None:
    """Put a row among the best of one, after those that are as good; not twice, and not after the last."""
    at = len(products)
    while at > 0 and products[at - 1] < product:
        at -= 1
    same = at
    while same > 0 and products[same - 1] == product:
        same -= 1
        if rows[same] == row:
            return
    if at == len(products):
        return
    for place in range(len(products) - 1, at, -1):
        products[place], rows[place] = products[place - 1], rows[place - 1]
    products[at], rows[at] = product, row


@compiled
def offer_by_kernel(
    best: Float32s, best_rows: Int32s, products: Float32s, rows: Int64s, others: Int64s, to_both: bool
) -> None:
    """As `BestRows.offer`. A count over a slice is what the compiler makes of several numbers at once; few slices hold
    any product that is good enough, and only these are gone through one by one."""
    last = best.shape[1] - 1
    floors = best[:, last][others]
    if not to_both:
        floors[:] = np.inf
    for i in range(len(rows)):
        row = rows[i]
        line, floor = products[i], best[row, last]
        for start in range(0, len(line), AT_ONCE):
            part, part_floors = line[start : start + AT_ONCE], floors[start : start + AT_ONCE]
            good = 0
            for j in range(len(part)):
                good += (part[j] > floor) | (part[j] > part_floors[j])
            if good == 0:
                continue
            for j in range(start, start + len(part)):
                other, product = others[j], line[j]
                if product > floor:
                    insert(best[row], best_rows[row], product, other)
                    floor = best[row, last]
                if product > floors[j]:
                    insert(best[other], best_rows[other], product, row)
                    floors[j] = best[other, last]


@compiled
def offer_neighbours_of_neighbours(
    best: Float32s, best_rows: Int32s, numbers: NDArray[np.int16], known: Int32s, rows: Int64s
) -> None:
    """Let each of `rows` have its products with the neighbours of its neighbours, as `known` [n, depth] says them."""
    last, seen = best.shape[1] - 1, np.full(len(known), -1, np.int64)
    for row in rows:
        mine, seen[row] = numbers[row], row
        for near in known[row]:
            if near >= 0:
                seen[near] = row
        for near in known[row]:
            if near < 0:
                break
            for other in known[near]:
                if other >= 0 and seen[other] != row:
                    seen[other], others, product = row, numbers[other], np.int32(0)
                    for place in range(len(mine)):
                        product += np.int32(mine[place]) * np.int32(others[place])
                    if product > best[row, last]:
                        insert(best[row], best_rows[row], np.float32(product), other)
