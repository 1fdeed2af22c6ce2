"""A polite request to stop: a process that listens is told by SIGTERM, and training goes on later from where it was.

A process that does not call `listen` ends at once, as any does.
"""

import signal
from types import FrameType

from lexigraft.core.errors import LexigraftError

_asked = False


class StoppedError(LexigraftError, RuntimeError):
    """Work ended because it was asked to; what is done so far is kept, and the next call goes on from there."""


def listen() -> None:
    """From now on SIGTERM is a request, which `is_asked` answers."""
    signal.signal(signal.SIGTERM, _remember)


def is_asked() -> bool:
    return _asked


def _remember(number: int, frame: FrameType | None) -> None:
    global _asked
    _asked = True
