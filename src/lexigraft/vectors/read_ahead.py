"""Texts read by other processes while a GPU encodes those before: one core reads some thousand texts a second, and a
GPU writes many times as many."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from queue import SimpleQueue
from typing import TypeVar

from lexigraft.inference.reading import ReadTexts
from lexigraft.vectors.reading_process import IS_THERE, Read, ReaderLostError, ReadingProcess, to_send

SERIAL_BATCHES = 4  # are read sooner than processes are started
WAITING = 2  # batches a process that may have been read and not yet encoded: memory for so many

Item = TypeVar("Item")

log = logging.getLogger(__name__)


def read_ahead(
    batches: Iterable[Sequence[Item]], text_of: Callable[[Item], str], read: Read, n_processes: int
) -> Iterator[tuple[Sequence[Item], ReadTexts]]:
    """Each batch with what `read`, which is sent to so many processes, makes of its texts, in order. Until one of them
    has read its first texts, and where one is lost, this process reads."""

    def read_here(batch: Sequence[Item]) -> tuple[Sequence[Item], ReadTexts]:
        return batch, read([text_of(item) for item in batch])

    left = iter(batches)
    yield from map(read_here, islice(left, SERIAL_BATCHES) if n_processes and IS_THERE else left)
    batch = next(left, None)
    if batch is None:
        return
    try:
        how = to_send(read)
    except Exception as error:  # noqa: BLE001  # what cannot be sent says so in many ways
        log.info("texts are read by this process alone: %s", error)
        yield from map(read_here, chain([batch], left))
        return
    waiting: deque[tuple[Sequence[Item], Future[ReadTexts]]] = deque()
    readers = _Readers(how, [text_of(item) for item in batch], n_processes)
    try:
        while batch is not None and not readers.have_begun():
            yield read_here(batch)
            batch = next(left, None)
        while batch is not None or waiting:
            while batch is not None and len(waiting) < (1 + WAITING) * n_processes:
                waiting.append((batch, readers.read([text_of(item) for item in batch])))
                batch = next(left, None)
            first, reading = waiting[0]
            found = reading.result()
            waiting.popleft()
            yield first, found
    except ReaderLostError as error:
        log.warning("a process that read texts was lost, perhaps for want of memory; this one reads the others")
        log.debug("it was lost to: %s", error)
        readers.end()
        taken = [first for first, _ in waiting] + ([batch] if batch is not None else [])
        yield from map(read_here, chain(taken, left))
    finally:
        readers.end()


class _Readers:
    """Processes that read, each started and asked by a thread: nobody waits for a process to start."""

    def __init__(self, how: bytes, sample: list[str], n_processes: int) -> None:
        self._how, self._sample = how, sample
        self._free: SimpleQueue[ReadingProcess | None] = SimpleQueue()  # None: of one that could not be started
        self._all: list[ReadingProcess] = []
        self._is_ending = False
        self._threads = ThreadPoolExecutor(n_processes, "reader")
        self._begun = [self._threads.submit(self._start) for _ in range(n_processes)]

    def have_begun(self) -> bool:
        """Whether one of them can be asked; raises if one could not be started."""
        ended = [one for one in self._begun if one.done()]
        for one in ended:
            one.result()
        return bool(ended)

    def read(self, texts: list[str]) -> Future[ReadTexts]:
        return self._threads.submit(self._read, texts)

    def end(self) -> None:
        self._is_ending = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._all):
            process.end()

    def _start(self) -> None:
        try:
            process = ReadingProcess(self._how, self._sample)
        except BaseException:  # also of what it could not read: nobody may wait for it
            self._free.put(None)
            raise
        self._all.append(process)
        if self._is_ending:
            process.end()
        self._free.put(process)

    def _read(self, texts: list[str]) -> ReadTexts:
        process = self._free.get()  # as many threads read as processes have begun: there is one
        try:
            if process is None:
                raise ReaderLostError("it could not be started")
            return process.read(texts)
        finally:
            self._free.put(process)
