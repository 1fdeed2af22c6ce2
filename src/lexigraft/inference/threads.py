"""How many threads encode texts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lexigraft.core.processes import usable_cores

_held_to: list[int] = []


def usable_threads() -> int:
    """OMP_NUM_THREADS where it is set, as torch has it, else the cores that are ours; no more than `at_most` says."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    found = int(asked) if asked.isdecimal() and int(asked) > 0 else usable_cores()
    return min([found, *_held_to])


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Within this, no more threads encode than that."""
    _held_to.append(threads)
    try:
        yield
    finally:
        _held_to.remove(threads)  # not the last: another thread may have come since
