"""Texts read by processes of their own while a GPU encodes those before: one processor reads some thousand texts a
second, and a GPU writes many times as many."""

import multiprocessing
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from lexigraft.inference.reading import ReadTexts

WAITING = 2  # batches a process that may have been read and not yet encoded: memory for so many

Item = TypeVar("Item")
Read = Callable[[Sequence[Any]], ReadTexts]

_read: Read | None = None  # in a process that reads


def read_ahead(
    batches: Iterable[Sequence[Item]], read: Callable[[Sequence[Item]], ReadTexts], n_processes: int
) -> Iterator[tuple[Sequence[Item], ReadTexts]]:
    """Each batch with what `read` makes of it, in order. By so many processes, which are copies of this one as it is
    now; by none where `n_processes` is 0 or copies cannot be made."""
    if not n_processes or sys.platform != "linux":
        yield from ((batch, read(batch)) for batch in batches)
        return
    begun: deque[tuple[Sequence[Item], Any]] = deque()
    with _copies(read, n_processes) as readers:
        for batch in batches:
            begun.append((batch, readers.apply_async(_read_one, (batch,))))
            if len(begun) > WAITING * n_processes:
                first, reading = begun.popleft()
                yield first, reading.get()
        while begun:
            first, reading = begun.popleft()
            yield first, reading.get()


def _copies(read: Read, n_processes: int) -> Any:
    """Processes that know `read` because they were copied while it was here: it need not be sent, nor loaded again.
    They use no GPU and none of the threads that were not copied."""
    global _read
    _read = read
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of copying a process with threads
            return multiprocessing.get_context("fork").Pool(n_processes)
    finally:
        _read = None


def _read_one(batch: Sequence[Any]) -> ReadTexts:
    assert _read is not None, "set when this process was copied"
    return _read(batch)
