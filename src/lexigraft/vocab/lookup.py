"""Queries that are looked up: a table that says what each term of a query stands for.

A row holds a term's own weight and, where the table expands, the few other terms that it brings along with theirs. A
query is the sum of the rows of its distinct terms, so that no model is needed to write it.

    table_indptr.npy table_terms.npy table_weights.npy    the rows, in the folder of the model that learned them
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int32s, Int64s
from lexigraft.core.arrays import open_array
from lexigraft.core.compiled import compiled, worth_loading
from lexigraft.core.validation import require_ascending_rows, require_length, require_pointers, require_positive

INDPTR, TERMS, WEIGHTS = "table_indptr.npy", "table_terms.npy", "table_weights.npy"
SMALLEST_WEIGHT = 1e-4
WORK_OF_A_ROW = 100  # of adding one up without a kernel (see `worth_loading`)


class TableRows(NamedTuple):
    """Row t: terms[indptr[t]:indptr[t + 1]], ascending, and their weights, which are more than 0."""

    indptr: Int64s
    terms: Int32s
    weights: Float32s

    @property
    def n_terms(self) -> int:
        return len(self.indptr) - 1


def own_terms_table(idf: Float64s) -> TableRows:
    """Every term stands for itself alone, in proportion to its IDF, 1 on the mean: where learning begins."""
    n_terms = len(idf)
    weights = np.maximum(idf / idf.mean(), SMALLEST_WEIGHT).astype(np.float32)
    return TableRows(np.arange(n_terms + 1, dtype=np.int64), np.arange(n_terms, dtype=np.int32), weights)


def look_up(indptr: Int64s, terms: Int32s, weights: Float32s, asked: Int32s) -> tuple[Int32s, Float32s]:
    """The rows of the terms in `asked` added up, in their order: (term ids ascending, weights)."""
    add_up = add_rows if worth_loading(WORK_OF_A_ROW * len(asked)) else add_rows_by_numpy
    return add_up(indptr, terms, weights, asked)


def add_rows_by_numpy(indptr: Int64s, terms: Int32s, weights: Float32s, asked: Int32s) -> tuple[Int32s, Float32s]:
    """The twin of `add_rows` for a process without kernels; it adds in the same order, and so to the same bits."""
    spans = [slice(indptr[term], indptr[term + 1]) for term in asked.tolist()]
    brought = np.concatenate([terms[:0], *(terms[span] for span in spans)])
    said = np.concatenate([weights[:0], *(weights[span] for span in spans)])
    found, places = np.unique(brought, return_inverse=True)
    sums = np.zeros(len(found), np.float32)
    np.add.at(sums, places, said)
    return found, sums


@compiled
def add_rows(indptr: Int64s, terms: Int32s, weights: Float32s, asked: Int32s) -> tuple[Int32s, Float32s]:
    """The kernel of `look_up`."""
    total = 0
    for term in asked:
        total += indptr[term + 1] - indptr[term]
    brought, said = np.empty(total, np.int32), np.empty(total, np.float32)
    n = 0
    for term in asked:
        for at in range(indptr[term], indptr[term + 1]):
            brought[n], said[n] = terms[at], weights[at]
            n += 1
    order = np.argsort(brought, kind="mergesort")
    found, sums = np.empty(total, np.int32), np.empty(total, np.float32)
    last = -1
    for place in order:
        if last < 0 or brought[place] != found[last]:
            last += 1
            found[last], sums[last] = brought[place], said[place]
        else:
            sums[last] += said[place]
    return found[: last + 1], sums[: last + 1]


def heaviest_rows(rows: TableRows, asked: Int32s) -> dict[int, int]:
    """Of each term that the rows of `asked` have, the one whose row has most of it; of equal ones, the first."""
    found: dict[int, tuple[float, int]] = {}
    for row in asked.tolist():
        span = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        for term, weight in zip(rows.terms[span].tolist(), rows.weights[span].tolist(), strict=True):
            if term not in found or weight > found[term][0]:
                found[term] = weight, row
    return {term: row for term, (_, row) in found.items()}


def write_table(folder: Path, rows: TableRows) -> None:
    np.save(folder / INDPTR, rows.indptr)
    np.save(folder / TERMS, rows.terms)
    np.save(folder / WEIGHTS, rows.weights)


def read_table(folder: Path, n_terms: int | None = None) -> TableRows:
    """The table of the model at `folder`, which must have a row for each of so many terms, where that is given."""
    dtypes = {INDPTR: np.int64, TERMS: np.int32, WEIGHTS: np.float32}
    rows = TableRows(*(open_array(folder / name, dtype) for name, dtype in dtypes.items()))
    # Always looked at, whoever made the model: it is a few milliseconds, and kernels follow what it says.
    n_rows = rows.n_terms if n_terms is None else n_terms
    require_pointers(folder / INDPTR, rows.indptr, n_rows, len(rows.terms))
    require_length(folder / WEIGHTS, len(rows.weights), len(rows.terms))
    require_ascending_rows(folder / TERMS, rows.indptr, rows.terms, rows.n_terms)
    require_positive(folder / WEIGHTS, rows.weights)
    return rows
