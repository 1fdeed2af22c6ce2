"""The answer to a single question, by numpy alone: a process that asks one ends before kernels would be loaded.

Sums are exact integers and a candidate is the same single integer as everywhere (search/topk.py), so this is the
ranking of all other methods, to the bit.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import LOADING
from lexigraft.index.codec import padded
from lexigraft.index.inverted import Index
from lexigraft.index.lists_by_numpy import list_in_range
from lexigraft.index.stored_lists import StoredLists
from lexigraft.search.searching import Allowed, Found
from lexigraft.search.topk import RANK_MASK

WORK_OF_A_RANGE = 5000  # beside that of its postings (see `worth_loading`)
FEW = 8  # questions: a process that asks more will ask many, and each is to be answered as fast as can be


def work_of(index: Index, terms: NDArray[np.int32]) -> int:
    """About how much a search is, in the units of `worth_loading`, and never so little that more than a few are done
    without kernels."""
    lengths = index.lengths[terms[(terms >= 0) & (terms < index.n_terms)]]
    return max(int(lengths.sum()) + WORK_OF_A_RANGE * len(index.entries), LOADING // FEW)


def search_by_numpy(
    index: Index, terms: NDArray[np.int32], integers: NDArray[np.int32], k: int, allowed: Allowed | None, scale: float
) -> Found:
    """(rows, scores) of the k best documents that share a term, best first; `scale` is what a score of 1 stands for.
    31 bits hold every score."""
    stored = index.stored
    best_keys, best_rows = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for number in range(len(stored.entries)):
        first = number * stored.range_size
        totals = np.zeros(padded(min(stored.range_size, stored.n_documents - first)), np.int64)
        _add_lists(stored, number, terms, integers, totals)
        places = np.flatnonzero(totals)
        if allowed is not None:
            places = places[allowed[first + places] != 0]
        rows = first + places
        keys = (totals[places] << 32) | (RANK_MASK - index.tie_rank[rows])
        best_keys, best_rows = _best(np.append(best_keys, keys), np.append(best_rows, rows), k)
    order = np.argsort(best_keys)[::-1]
    return best_rows[order].astype(np.int32), (best_keys[order] >> 32).astype(np.float64) * scale


def precise_by_numpy(
    index: Index, terms: NDArray[np.int32], integers: NDArray[np.int32], allowed: Allowed | None
) -> NDArray[np.int64]:
    """The twin of `precise.precise_scores`: every document's score, 0 of one that is not allowed."""
    stored = index.stored
    totals = np.zeros(index.n_documents, np.int64)
    for number in range(len(stored.entries)):
        some = totals[number * stored.range_size : (number + 1) * stored.range_size]
        _add_lists(stored, number, terms, integers, some)
    if allowed is not None:
        totals[allowed == 0] = 0
    return totals


def _add_lists(
    stored: StoredLists,
    number: int,
    terms: NDArray[np.int32],
    integers: NDArray[np.int32],
    totals: NDArray[np.int64],
) -> None:
    """Add what the query's terms give to the documents of range `number`."""
    for term, weight in zip(terms.tolist(), integers.tolist(), strict=True):
        places, impacts = list_in_range(stored, number, term)
        totals[places] += impacts.astype(np.int64) * weight


def _best(keys: NDArray[np.int64], rows: NDArray[np.int64], k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The k largest keys, in no order, and their rows."""
    if len(keys) <= k:
        return keys, rows
    kept = np.argpartition(keys, len(keys) - k)[len(keys) - k :]
    return keys[kept], rows[kept]
