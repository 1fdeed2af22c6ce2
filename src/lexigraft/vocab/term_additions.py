"""What terms bring along, added up over many texts and kept as a table that expands (`vocab.lookup`).

Sums are kept of pairs that occurred, and of each term of a bounded number of the heaviest at that, so that memory grows
with the vocabulary and not with its square.
"""

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int32s, Int64s
from lexigraft.vocab.lookup import SMALLEST_WEIGHT, TableRows

FOLDED_AT_ONCE = 1 << 22  # entries that wait to be added up
ROOM, LEAST_ROOM = 8, 128  # so many times as many as a row will have are kept of a term, and no fewer than these


class TermAdditions:
    """The weights of the terms that each of `n_terms` terms brought, added up; `wanted` of them will be a row."""

    def __init__(self, n_terms: int, wanted: int) -> None:
        self._n_terms, self._room = n_terms, max(LEAST_ROOM, ROOM * wanted)
        self._pairs, self._sums = np.zeros(0, np.int64), np.zeros(0, np.float64)  # by term * n_terms + what it brought
        self._waiting: list[tuple[Int64s, Float64s]] = []
        self._n_waiting = 0

    def add(self, terms: Int64s, brought: Int64s, weights: Float32s) -> None:
        """Entry i: terms[i] brought brought[i], which weighed weights[i]."""
        self._waiting.append((terms * self._n_terms + brought, weights.astype(np.float64)))
        self._n_waiting += len(terms)
        if self._n_waiting >= FOLDED_AT_ONCE:
            self._fold()

    def sums(self) -> tuple[Int64s, Int64s, Float64s]:
        """(terms ascending, what each brought ascending, the sum of its weights), but for pairs so light that there was
        no room for them."""
        self._fold()
        return self._pairs // self._n_terms, self._pairs % self._n_terms, self._sums

    def _fold(self) -> None:
        pairs = np.concatenate([self._pairs, *(some for some, _ in self._waiting)])
        weights = np.concatenate([self._sums, *(some for _, some in self._waiting)])
        self._waiting, self._n_waiting = [], 0
        self._pairs, place = np.unique(pairs, return_inverse=True)
        self._sums = np.bincount(place, weights, len(self._pairs)).astype(np.float64)
        kept = heaviest(self._pairs // self._n_terms, self._sums, self._room)
        self._pairs, self._sums = self._pairs[kept], self._sums[kept]


def heaviest(groups: Int64s, weights: Float64s, keep: int) -> Int64s:
    """The places, ascending, of the `keep` largest weights of each group; of equal ones, those that come first."""
    order = np.lexsort((-weights, groups))
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    rank = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept: Int64s = np.sort(order[rank < keep])
    return kept


def expanding_table(own: Float64s, terms: Int64s, brought: Int64s, weights: Float64s, wanted: int) -> TableRows:
    """A table in which term t weighs own[t] > 0 itself and brings the `wanted` heaviest of what it brought: brought[i]
    with weights[i] is of terms[i], each pair once and no term by itself. Own weights become 1 on the mean."""
    scale = 1 / own.mean()
    loud = np.flatnonzero(weights * scale > SMALLEST_WEIGHT)
    kept = loud[heaviest(terms[loud], weights[loud], wanted)]
    itself = np.arange(len(own))
    rows = np.concatenate((itself, terms[kept]))
    columns = np.concatenate((itself, brought[kept]))
    said = np.concatenate((np.maximum(own * scale, SMALLEST_WEIGHT), weights[kept] * scale))
    order = np.lexsort((columns, rows))
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=len(own)))))
    in_order: Int32s = columns[order].astype(np.int32)
    return TableRows(indptr, in_order, said[order].astype(np.float32))
