"""Answers are worked out by threads, as many as there are cores, so that the event loop is free to take requests. What
waits for a thread is bounded: further requests are turned away at once, which is better than a late answer."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import Any, TypeVar

from lexigraft.core.processes import usable_cores
from lexigraft.serve.limits import Limits
from lexigraft.serve.refused import AGAIN, RefusedError

T = TypeVar("T")


def n_threads(limits: Limits) -> int:
    return limits.threads or usable_cores()


class Work:
    """A pool of threads with a bounded queue before it, and a time limit."""

    def __init__(self, limits: Limits) -> None:
        self._threads = n_threads(limits)
        self._most, self._seconds = self._threads + limits.waiting, limits.seconds
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="lexigraft-answer")
        self._lock = Lock()
        self.n_begun = 0  # that wait or are worked on

    async def do(self, task: Callable[[], T]) -> T:
        """What `task` returns, worked out by one of the threads. Raises `RefusedError` where too many wait, or where it
        took too long; what has begun then ends unheard, and keeps its place until it has."""
        with self._lock:
            if self.n_begun >= self._most:
                raise RefusedError(429, f"{self.n_begun} requests are waiting already; ask again in a second", AGAIN)
            self.n_begun += 1
        deadline = monotonic() + self._seconds

        def unless_late() -> T:
            if monotonic() > deadline:
                raise TimeoutError
            try:
                return task()
            except StopIteration as error:  # which no future can hold: whoever waits for it would wait for ever
                raise RuntimeError("a task ended without an answer") from error

        future = self._pool.submit(unless_late)
        future.add_done_callback(self._ended)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            said = f"the answer took longer than {self._seconds:g} seconds; ask for less, or again when less is asked"
            raise RefusedError(503, said, AGAIN) from None

    def _ended(self, _: "Future[Any]") -> None:
        with self._lock:
            self.n_begun -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
