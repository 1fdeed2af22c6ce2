"""Many queries, one after the other or on several threads: kernels hold no lock."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

from lexigraft.core.compiled import load_kernels
from lexigraft.core.errors import require
from lexigraft.core.processes import usable_cores

QUERIES_AT_ONCE = 32  # by one thread, before it asks for more
IN_MEMORY = 1024  # answers, where they are taken one by one

Answer = TypeVar("Answer")


def answer_all(answer: Callable[[int], Answer], n_queries: int, threads: int = 0) -> list[Answer]:
    """answer(0), answer(1) and so on, in this order, on so many threads; 0: one for each core, and as many as there is
    work for."""
    require(threads >= 0, "threads", threads, "0 (one for each core) or more")
    at_once = QUERIES_AT_ONCE if threads == 0 else max(1, min(QUERIES_AT_ONCE, -(-n_queries // threads)))
    starts = range(0, n_queries, at_once)
    workers = threads or min(usable_cores(), len(starts))
    if len(starts) > 1 or threads > 1:
        load_kernels()  # numpy holds the lock of Python that kernels do without
    if workers <= 1:
        return [answer(number) for number in range(n_queries)]

    def some(start: int) -> list[Answer]:
        return [answer(number) for number in range(start, min(start + at_once, n_queries))]

    with ThreadPoolExecutor(workers) as pool:
        return list(chain.from_iterable(pool.map(some, starts)))


def answer_in_turn(answer: Callable[[int], Answer], n_queries: int, threads: int = 0) -> Iterator[Answer]:
    """`answer_all`, of which some at a time are held in memory."""
    for start in range(0, n_queries, IN_MEMORY):
        some = range(start, min(start + IN_MEMORY, n_queries))
        yield from answer_all(lambda place, some=some: answer(some[place]), len(some), threads)  # type: ignore[misc]
