"""Rows of terms as JSON: a line a document, its terms in the order of their UTF-8 bytes. The numbers are written by a
kernel, for there are millions of them."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.compiled import compiled
from lexigraft.index.inverted import Index
from lexigraft.index.rows import Rows, iterate_rows

ROWS_AT_ONCE = 1 << 16  # that are read out of the lists together
ENTRIES_AT_ONCE = 1 << 20  # that are written together
_LONGEST_NUMBER, _ZERO = 10, 48


class VectorLines:
    """Writes rows of an index as JSON objects of their terms."""

    def __init__(self, index: Index) -> None:
        terms: Sequence[str] = list(index.vocabulary.terms)
        order = sorted(range(len(terms)), key=terms.__getitem__)
        self._index, self._rank = index, np.empty(len(terms), np.int64)
        self._rank[order] = np.arange(len(terms))
        keys = [json.dumps(terms[term]).encode() + b": " for term in order]
        self._ends = np.cumsum([0, *map(len, keys)], dtype=np.int64)
        self._keys = np.frombuffer(b"".join(keys), np.uint8)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """(ordinal, `{"term": impact, ...}`) of every row, in the order of the index."""
        for start in range(0, self._index.n_documents, ROWS_AT_ONCE):
            rows = iterate_rows(self._index, start, min(start + ROWS_AT_ONCE, self._index.n_documents))
            yield from self._written(start, rows)

    def _written(self, start: int, rows: Rows) -> Iterator[tuple[int, bytes]]:
        first, n_rows = 0, len(rows.indptr) - 1
        while first < n_rows:
            last = int(np.searchsorted(rows.indptr, rows.indptr[first] + ENTRIES_AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), n_rows)
            span = slice(rows.indptr[first], rows.indptr[last])
            indptr = rows.indptr[first : last + 1] - rows.indptr[first]
            ranks, impacts = self._in_order(indptr, rows.term_ids[span], rows.impacts[span])
            out = np.empty(self._room(ranks, last - first), np.uint8)
            ends = np.empty(last - first, np.int64)
            text = out[: fill_objects(indptr, ranks, impacts, self._keys, self._ends, out, ends)].tobytes()
            begin = 0
            for row, end in enumerate(ends.tolist(), start + first):
                yield row, text[begin:end]
                begin = end
            first = last

    def _in_order(
        self, indptr: Int64s, term_ids: NDArray[np.int32], impacts: NDArray[np.uint32]
    ) -> tuple[Int64s, NDArray[np.uint32]]:
        """The ranks of rows' terms, ascending in each row, and their impacts."""
        ranks = self._rank[term_ids]
        row_of = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        order = np.argsort(row_of * len(self._rank) + ranks, kind="stable")
        return ranks[order], impacts[order]

    def _room(self, ranks: Int64s, n_rows: int) -> int:
        return int((self._ends[ranks + 1] - self._ends[ranks]).sum()) + (_LONGEST_NUMBER + 2) * len(ranks) + 2 * n_rows


@compiled
def fill_objects(
    indptr: Int64s,
    ranks: Int64s,
    impacts: NDArray[np.uint32],
    keys: NDArray[np.uint8],
    ends_of_keys: Int64s,
    out: NDArray[np.uint8],
    ends: Int64s,
) -> int:
    """Write a JSON object for each row into `out`, which end at `ends`; returns how many bytes."""
    at = 0
    for row in range(len(indptr) - 1):
        out[at] = 123  # {
        at += 1
        for i in range(indptr[row], indptr[row + 1]):
            if i > indptr[row]:
                out[at], out[at + 1] = 44, 32  # a comma and a space
                at += 2
            for j in range(ends_of_keys[ranks[i]], ends_of_keys[ranks[i] + 1]):
                out[at] = keys[j]
                at += 1
            number, n_digits = int(impacts[i]), 1
            while number >= 10**n_digits:
                n_digits += 1
            for digit in range(n_digits):
                out[at + n_digits - 1 - digit] = _ZERO + number % 10
                number //= 10
            at += n_digits
        out[at] = 125  # }
        at += 1
        ends[row] = at
    return at
