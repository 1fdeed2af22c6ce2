"""What stands for a kill in tests of resuming, and real ones at every step of a change of files."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from lexigraft.core import artifact

STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")  # what Python announces before it does one of these


class Killed(BaseException):
    """What nobody catches, as a signal that ends the process."""


def dies_at_call(function: Callable[..., Any], call: int) -> Callable[..., Any]:
    """`function`, but for its call number `call`, the first being 1."""
    n_calls = 0

    def dying(*arguments: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls == call:
            raise Killed
        return function(*arguments)

    return dying


def killed_before_step(number: int, change: Callable[[], object]) -> bool:
    """Do `change` in a process of its own, which the operating system kills before this step of it: a rename, an
    exchange of names, a folder made, a file or folder removed. Returns whether there was such a step."""
    child = os.fork()
    if not child:
        try:
            _kill_at(number)
            change()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _kill_at(number: int) -> None:
    n_steps, usual = 0, artifact.__dict__.get("exchange")

    def count(event: str, _arguments: object) -> None:
        nonlocal n_steps
        if event in STEPS:
            if n_steps == number:
                os.kill(os.getpid(), signal.SIGKILL)
            n_steps += 1

    def counted_exchange(*folders: Any) -> Any:
        count("os.rename", ())  # ctypes announces nothing of the kind
        return usual(*folders) if usual is not None else False

    artifact.__dict__["exchange"] = counted_exchange
    sys.addaudithook(count)
