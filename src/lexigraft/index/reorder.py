"""An order of the documents that puts those with common terms near each other, by recursive graph bisection.

Postings lists then have small gaps, and a block of neighbouring documents has few terms of large impact, so that its
bound is low and more blocks can be skipped. Dhulipala et al., "Compressing graphs and indexes with recursive graph
bisection" (2016); Mackenzie et al., "Faster index reordering with bipartite graph partitioning" (2021).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int32s, Int64s
from lexigraft.core.arrays import release_pages
from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError, require
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.settings.section import Section, setting
from lexigraft.index.bisection import Rows, Rules, Work, slopes, split, split_to_leaves
from lexigraft.vectors.rows import require_rows

TASK_DOCUMENTS = 4096  # a range this small is finished in one call: small enough to show progress and share among cores

Range = tuple[int, int]


@dataclass(frozen=True)
class ReorderSettings(Section, name="reorder"):
    """When a bisection is done, and which terms it looks at."""

    leaf: int = setting(16, "ranges of so many documents are not halved any more", at_least=1)
    rounds: int = setting(20, "exchanges between two halves, at most", at_least=1)
    settled: float = setting(
        0.001, "two halves are done when no larger share of their documents changed places", at_least=0, at_most=1
    )
    max_share: float = setting(
        1.0, "terms that a larger share of the documents holds are not looked at", more_than=0, at_most=1
    )


def reorder(
    indptr: Int64s,
    term_ids: Int32s,
    n_terms: int,
    settings: ReorderSettings | None = None,
    threads: int = 1,
    progress: Progress = SILENT,
) -> Int32s:
    """The permutation `order` with order[new position] = row, in which documents with common terms are neighbours.

    Row r holds the terms term_ids[indptr[r]:indptr[r + 1]], ascending, each less than `n_terms`. The gaps of the
    result never cost more than those of the given order, which is returned where nothing better was found. The same
    input gives the same order, with any number of threads. Takes the memory of a copy of `term_ids`, about 40 bytes a
    document, and 20 bytes a term and thread.
    """
    settings = settings or ReorderSettings()
    require(threads >= 1, "threads", threads, "1 or more")
    indptr, term_ids = np.asarray(indptr, np.int64), np.asarray(term_ids, np.int32)
    _check_rows(indptr, term_ids, n_terms)
    order = np.arange(len(indptr) - 1, dtype=np.int32)
    _bisect(order, indptr, term_ids, n_terms, settings, threads, progress)
    given = np.arange(len(order), dtype=np.int32)
    better = log_gap(indptr, term_ids, n_terms, order) < log_gap(indptr, term_ids, n_terms, given)
    return order if better else given


def log_gap(indptr: Int64s, term_ids: Int32s, n_terms: int, order: Int32s) -> float:
    """The mean of log2(gap) over all postings, if documents are numbered in this order; 0 without postings.

    A list's first gap is its first document's number, counted from 1. About the bits that a posting's document takes.
    """
    histogram = np.zeros(len(order) + 1, np.int64)
    count_gaps(indptr, term_ids, order, np.full(n_terms, -1, np.int32), histogram)
    release_pages(term_ids)
    return float(histogram[1:] @ np.log2(np.arange(1, len(histogram)))) / max(1, len(term_ids))


@compiled
def count_gaps(indptr: Int64s, term_ids: Int32s, order: Int32s, latest: Int32s, histogram: Int64s) -> None:
    """Count in `histogram` the gaps of all lists; `latest` holds -1 for every term before."""
    for position in range(len(order)):
        for at in range(indptr[order[position]], indptr[order[position] + 1]):
            term = term_ids[at]
            histogram[position - latest[term]] += 1
            latest[term] = position


def _check_rows(indptr: Int64s, term_ids: Int32s, n_terms: int) -> None:
    ends_meet = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == len(term_ids)
    if not ends_meet or (len(indptr) > 1 and int(np.diff(indptr).min()) < 0):
        raise InputError(
            f"row pointers must rise from 0 to the number of entries, {len(term_ids)}; "
            "give the indptr that belongs to these term ids"
        )
    require_rows(indptr, term_ids, n_terms)


def _bisect(
    order: Int32s,
    indptr: Int64s,
    term_ids: Int32s,
    n_terms: int,
    settings: ReorderSettings,
    threads: int,
    progress: Progress,
) -> None:
    """Rearrange `order`, which holds the rows as they came."""
    rows = _copy_rows(indptr, term_ids, n_terms, settings.max_share)
    rules, keys = Rules(slopes(len(order)), settings.rounds, settings.settled), np.empty(len(order), np.float32)
    idle: SimpleQueue[Work] = SimpleQueue()
    for _ in range(threads):
        degrees, gains = np.zeros((2, n_terms), np.int32), np.empty((2, n_terms), np.float32)
        idle.put(Work(degrees, gains, np.empty(n_terms, np.int32)))

    @contextmanager
    def workplace() -> Iterator[Work]:
        taken = idle.get()
        try:
            yield taken
        finally:
            idle.put(taken)

    def halve(part: Range) -> None:
        first, last = part
        with workplace() as work:
            split(order, first, last, rows, rules, keys, work)

    def finish(part: Range) -> None:
        first, last = part
        with workplace() as work:
            split_to_leaves(order, first, last, settings.leaf, rows, rules, keys, work)

    with ThreadPoolExecutor(threads) as pool:
        steps, n_steps = _steps(pool, len(order), settings.leaf, halve, finish)
        for _ in progress.track(steps, "reordering", n_steps):
            pass


def _steps(
    pool: Executor, n_documents: int, leaf: int, halve: Callable[[Range], None], finish: Callable[[Range], None]
) -> tuple[Iterator[None], int]:
    """The work as steps that take about equally long, done as they are asked for, and their number.

    A step is one level of one task's documents. The halves of a range wait for its own halving; ranges of one level
    are independent of each other.
    """
    levels = _levels(n_documents, max(TASK_DOCUMENTS, leaf))
    levels_within = max(1, _levels(n_documents, leaf) - levels)

    def steps() -> Iterator[None]:
        parts = [(0, n_documents)]
        for level in range(levels):
            for _ in pool.map(halve, parts):
                yield from repeat(None, 2 ** (levels - level))
            middles = [first + (last - first) // 2 for first, last in parts]
            ends = zip(parts, middles, strict=True)
            parts = [half for (first, last), middle in ends for half in ((first, middle), (middle, last))]
        for _ in pool.map(finish, parts):
            yield from repeat(None, levels_within)

    return steps(), 2**levels * (levels + levels_within)


def _levels(n_documents: int, at_most: int) -> int:
    """How often so many documents must be halved until no part has more than `at_most`."""
    n_levels = 0
    while n_documents > at_most:
        n_documents -= n_documents // 2
        n_levels += 1
    return n_levels


def _copy_rows(indptr: Int64s, term_ids: Int32s, n_terms: int, max_share: float) -> Rows:
    """The rows without terms of a single document and those too frequent to tell apart."""
    frequencies = np.zeros(n_terms, np.int64)
    count_entries(term_ids, frequencies)
    wanted = (frequencies >= 2) & (frequencies <= max_share * (len(indptr) - 1))
    starts, ends = np.empty(len(indptr) - 1, np.int64), np.empty(len(indptr) - 1, np.int64)
    rows = Rows(starts, ends, np.empty(int(frequencies[wanted].sum()), np.int32))
    copy_wanted(indptr, term_ids, wanted, rows)
    release_pages(term_ids)
    return rows


@compiled
def count_entries(term_ids: Int32s, frequencies: Int64s) -> None:
    """Add up how often each term occurs (bincount would first make a copy of twice the size)."""
    for term in term_ids:
        frequencies[term] += 1


@compiled
def copy_wanted(indptr: Int64s, term_ids: Int32s, wanted: NDArray[np.bool_], rows: Rows) -> None:
    """Copy the rows, one after the other, without the terms that are not wanted."""
    starts, ends, terms = rows
    end = 0
    for row in range(len(indptr) - 1):
        starts[row] = end
        for at in range(indptr[row], indptr[row + 1]):
            if wanted[term_ids[at]]:
                terms[end] = term_ids[at]
                end += 1
        ends[row] = end
