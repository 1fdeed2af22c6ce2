"""Engines timed in turns: every run goes through the queries in blocks, and in every block all engines take their turn.

So whatever slows the machine for a while slows all of them, and still each engine has a block of queries to warm the
caches with, as it would have alone. The order within a block moves on by one each time.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.collections import Collection
from bench.engines.interface import Engine
from bench.engines.oracle import Oracle
from lexigraft.core.errors import LexigraftError

BLOCK = 50
WARM_UP = 20


class WrongAnswerError(LexigraftError):
    """An engine that calls itself exact is not; its times would mean nothing."""


@dataclass
class Timings:
    """`seconds` [runs, queries] of single calls; `batch_seconds` [runs] of a call for all queries, where there is one;
    `recall` of an approximate engine, 1 for an exact one that was checked."""

    seconds: NDArray[np.float64]
    batch_seconds: list[float] = field(default_factory=list)
    recall: float = 1.0

    def of_runs(self, statistic: Callable[[Any], Any]) -> NDArray[np.float64]:
        """A statistic of each run's queries, in milliseconds."""
        return 1000 * np.array([statistic(run) for run in self.seconds])


def measure(
    engines: Sequence[Engine], collection: Collection, k: int, runs: int, rows: Sequence[int], checked: int
) -> dict[str, Timings]:
    """Time every engine on the queries `rows`; the first `checked` of them are held against the oracle first."""
    queries = [collection.query(row) for row in rows]
    recalls = check(engines, collection, queries[:checked], k)
    calls = {engine.name: [engine.prepared(*query, k) for query in queries] for engine in engines}
    timings = {engine.name: Timings(np.zeros((runs, len(queries)))) for engine in engines}
    for name in calls:
        timings[name].recall = recalls[name]
        for call in calls[name][:WARM_UP]:
            call()
    turn = 0
    for run in range(runs):
        for start in range(0, len(queries), BLOCK):
            turn += 1
            for name in _rotated(list(calls), turn):
                _time(calls[name][start : start + BLOCK], timings[name].seconds[run, start : start + BLOCK])
        for engine in engines:
            if (batch := engine.prepared_batch(queries, k)) is not None:
                taken = np.zeros(1)
                _time([batch], taken)
                timings[engine.name].batch_seconds.append(float(taken[0]))
    return timings


def check(engines: Sequence[Engine], collection: Collection, queries: Sequence[Any], k: int) -> dict[str, float]:
    """The mean recall of each engine; raises `WrongAnswerError` for an exact one with a wrong answer."""
    oracle, recalls = Oracle(collection.documents), {engine.name: [] for engine in engines}
    for number, query in enumerate(queries):
        truth = oracle.truth(*query, k)
        for engine in filter(lambda engine: engine.searches, engines):
            answer = engine.search(*query, k)
            fault = truth.fault(answer) if engine.exact else None
            if fault:
                raise WrongAnswerError(
                    f"{engine.name} is wrong on query {number} of {collection.name} at k = {k}: {fault}; "
                    "leave it out with --engines until it is mended"
                )
            recalls[engine.name].append(truth.recall(answer))
    return {name: float(np.mean(values)) if values else float("nan") for name, values in recalls.items()}


def _time(calls: Sequence[Callable[[], Any]], seconds: NDArray[np.float64]) -> None:
    """Fill `seconds`; what a call returned is thrown away outside the clock, and nothing is collected inside it."""
    clock = time.perf_counter
    gc.disable()
    try:
        for at, call in enumerate(calls):
            start = clock()
            found = call()
            seconds[at] = clock() - start
            del found
    finally:
        gc.enable()


def _rotated(names: list[str], turn: int) -> list[str]:
    at = turn % len(names)
    return names[at:] + names[:at]
