"""How long searches take (S5): several methods measured side by side, so that other work hits all alike."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lexigraft.core.compiled import load_kernels
from lexigraft.core.types import SparseMatrix
from lexigraft.search.searching import Searching

MOST_WARMING_NS, MOST_TIMING_NS = 500_000_000, 2_000_000_000


class Latency(NamedTuple):
    """Milliseconds a query, over all queries of all runs."""

    p50: float
    p99: float
    mean: float


def time_side_by_side(
    searchers: Mapping[str, Searching], queries: SparseMatrix, k: int, runs: int
) -> dict[str, Latency]:
    """The latencies of each searcher, from vector to document ids, on one thread.

    First every one answers every query once, unmeasured: kernels are compiled and pages are in memory. Then each run
    has all queries by each, beginning with another one every time.
    """
    rows = [queries.row(row) for row in range(queries.n_rows)]
    calls: dict[str, Callable[[int], object]] = {
        name: (lambda place, searcher=searcher: searcher.search(*rows[place], k))  # type: ignore[misc]
        for name, searcher in searchers.items()
    }
    return time_calls(calls, len(rows), runs)


def time_calls(calls: Mapping[str, Callable[[int], object]], n_queries: int, runs: int) -> dict[str, Latency]:
    """The latencies of call(0), ..., call(n_queries - 1) of each of `calls`, interleaved as above."""
    load_kernels()
    names = list(calls)
    for name in names:
        _pass(calls[name], n_queries)
    taken: dict[str, list[int]] = {name: [] for name in names}
    for run in range(runs):
        for place in range(len(names)):
            name = names[(run + place) % len(names)]
            taken[name] += _pass(calls[name], n_queries)
    return {name: latency(values) for name, values in taken.items()}


def time_within(call: Callable[[int], object], n_queries: int, runs: int) -> Latency:
    """The latencies of call(0), ..., call(n_queries - 1), over `runs` passes, or fewer where they would take more than
    some seconds: what takes so long varies little. Before that come a call by which kernels are compiled, and a pass,
    or the beginning of one, that is not measured: pages are in memory then."""
    load_kernels()
    call(0)
    _calls(call, range(n_queries), MOST_WARMING_NS)
    return latency(_calls(call, (place for _ in range(runs) for place in range(n_queries)), MOST_TIMING_NS))


def _calls(call: Callable[[int], object], places: Iterable[int], most_ns: float = math.inf) -> list[int]:
    """What each call took, until together they took more than `most_ns`."""
    taken: list[int] = []
    total = 0
    for place in places:
        start = time.perf_counter_ns()
        call(place)
        taken.append(time.perf_counter_ns() - start)
        total += taken[-1]
        if total > most_ns:
            break
    return taken


def _pass(call: Callable[[int], object], n_queries: int) -> list[int]:
    return _calls(call, range(n_queries))


def latency(nanoseconds: Sequence[int]) -> Latency:
    """Percentiles are measured values, the lowest that so many per cent do not exceed."""
    values = np.asarray(nanoseconds, np.float64) * 1e-6
    p50, p99 = np.percentile(values, (50, 99), method="inverted_cdf").tolist()
    return Latency(p50, p99, float(values.mean()))
