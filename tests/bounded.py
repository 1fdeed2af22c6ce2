"""Work that must not grow out of hand, measured by what no other process can slow down."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooMuchError(BaseException):
    """No error that any code under test would take for its own."""


@contextmanager
def within_cpu_seconds(seconds: float) -> Iterator[None]:
    """Stop the lines within once this process has computed for so long; waiting for others does not count. Give what is
    fifty times as long as they take: what is quadratic takes longer still."""

    def stop(*_: object) -> None:
        raise TooMuchError(f"more than {seconds} seconds of computing")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
