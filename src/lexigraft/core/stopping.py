"""A polite request to stop: a process that listens is told by SIGTERM, and training goes on later from where it was.

Whoever can keep what it has done asks for patience, and looks whether a request has come. Everything else ends at once,
as it does in a process that does not listen: artifacts are whole or absent whenever a process ends.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lexigraft.core.errors import LexigraftError

_asked = False
_patient = False


class StoppedError(LexigraftError, RuntimeError):
    """Work ended because it was asked to; what is done so far is kept, and the next call goes on from there."""


def listen() -> None:
    """From now on SIGTERM is a request."""
    signal.signal(signal.SIGTERM, _stop)


@contextmanager
def patience(can_keep: bool) -> Iterator[None]:
    """While this lasts, a request is only noted: `is_asked` answers. Without `can_keep` nothing changes."""
    global _patient
    before, _patient = _patient, can_keep
    try:
        yield
    finally:
        _patient = before


def is_asked() -> bool:
    return _asked


def _stop(number: int, frame: FrameType | None) -> None:
    global _asked
    if not _patient:
        raise StoppedError("stopped; the next call goes on with what is not done")
    _asked = True
