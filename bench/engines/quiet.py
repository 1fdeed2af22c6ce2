"""Silence for compiled code, which writes past Python."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Nothing reaches the terminal meanwhile."""
    saved = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for handle in (*saved, nowhere):
            os.close(handle)
