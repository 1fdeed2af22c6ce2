"""How many threads encode texts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_held_to: list[int] = []  # the innermost last


def usable_threads() -> int:
    """OMP_NUM_THREADS where it is set, as torch has it, else the cores that are ours; no more than `at_most` says."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        found = int(asked)
    else:
        found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([found, *_held_to])


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Within this, no more threads encode than that."""
    _held_to.append(threads)
    try:
        yield
    finally:
        _held_to.pop()
