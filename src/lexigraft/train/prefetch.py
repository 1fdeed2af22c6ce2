"""The input of the next step, made while this one is computed: a device never waits for its texts."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Prepared = TypeVar("Prepared")


class Prefetch(Generic[Prepared]):
    """`prepare(step)`, asked for in order of the steps; the next one is begun in a thread as soon as one is taken."""

    def __init__(self, prepare: Callable[[int], Prepared], n_steps: int) -> None:
        self._prepare, self._n_steps = prepare, n_steps
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._next: tuple[int, Future[Prepared]] | None = None

    def __call__(self, step: int) -> Prepared:
        begun = self._next
        found = begun[1].result() if begun is not None and begun[0] == step else self._prepare(step)
        self._next = None
        if step + 1 < self._n_steps:
            self._next = step + 1, self._thread.submit(self._prepare, step + 1)
        return found
