"""Texts read by other processes while a GPU encodes those before: one core reads some thousand texts a second, and a
GPU writes many times as many."""

import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from lexigraft.inference.reading import ReadTexts

SERIAL_BATCHES = 4  # are read sooner than processes are started
WAITING = 2  # batches a process that may have been read and not yet encoded: memory for so many

Item = TypeVar("Item")
Read = Callable[[list[str]], ReadTexts]

_read: Read | None = None  # in a process that reads

log = logging.getLogger(__name__)


def read_ahead(
    batches: Iterable[Sequence[Item]], text_of: Callable[[Item], str], read: Read, n_processes: int
) -> Iterator[tuple[Sequence[Item], ReadTexts]]:
    """Each batch with what `read`, which is sent to so many processes, makes of its texts, in order. Until they have
    started, and where they are lost, this process reads."""

    def read_here(batch: Sequence[Item]) -> tuple[Sequence[Item], ReadTexts]:
        return batch, read([text_of(item) for item in batch])

    left = iter(batches)
    yield from map(read_here, islice(left, SERIAL_BATCHES) if n_processes else left)
    further = next(left, None)
    if further is None:
        return
    waiting: deque[tuple[Sequence[Item], Future[ReadTexts]]] = deque()
    # Started afresh: a copy of a process that runs threads could hang. Ctrl-C is for this one alone.
    pool = ProcessPoolExecutor(n_processes, get_context("spawn"), _begin, (read,))
    try:
        begun = [pool.submit(_has_begun) for _ in range(n_processes)]
        batch: Sequence[Item] | None = further
        while batch is not None and not begun[0].done():
            yield read_here(batch)
            batch = next(left, None)
        begun[0].result()
        while batch is not None or waiting:
            while batch is not None and len(waiting) < (1 + WAITING) * n_processes:
                waiting.append((batch, pool.submit(_read_one, [text_of(item) for item in batch])))
                batch = next(left, None)
            first, reading = waiting[0]
            found = reading.result()
            waiting.popleft()
            yield first, found
    except BrokenProcessPool:
        log.warning("a process that read texts was lost, perhaps for want of memory; this one reads the others")
        yield from map(read_here, [first for first, _ in waiting])
        yield from map(read_here, [batch] if batch is not None else [])
        yield from map(read_here, left)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(read: Read) -> None:
    global _read
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would be those of all cores, in every process
    _read = read


def _has_begun() -> None:
    """Done when there is a process that can read."""


def _read_one(texts: list[str]) -> ReadTexts:
    assert _read is not None, "set when this process began"
    return _read(texts)
