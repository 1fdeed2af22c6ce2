"""Noticing that another machine is gone: a process that is killed closes its connections, one without power does not.

Every process counts on in a key of its own in the store that all of them share, and looks whether the others do. A
process that nobody has heard of for `silence` seconds is lost: this one says so in one line and ends, because it may be
waiting inside a collective that nothing else would end for days.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from lexigraft.core.errors import require

SECONDS_BETWEEN = 5.0
SILENCE = 300.0  # far more than a checkpoint takes to be written, or than a kernel keeps Python's lock
LONGEST_ANSWER = 10.0  # seconds: a store that does not answer by then is out of reach, and so nobody waits longer
VARIABLE = "LEXIGRAFT_SILENCE"
GOODBYE = b"done"
REMEDY = "start the same command on every machine again: it goes on from the last checkpoint"


class Store(Protocol):
    """What is used of a store of torch.distributed."""

    def set(self, key: str, value: str, /) -> None: ...
    def get(self, key: str, /) -> bytes: ...
    def check(self, keys: list[str], /) -> bool: ...


def silence_allowed() -> float:
    """Seconds without a sign of another process, as `LEXIGRAFT_SILENCE` says."""
    given = os.environ.get(VARIABLE, str(SILENCE))
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    require(1 <= seconds < float("inf"), VARIABLE, given, "a number of seconds, 1 or more")
    return seconds


class Heartbeat:
    """The signs of life of process `rank` of `n`. `now` is a clock, for tests."""

    def __init__(
        self, store: Store, rank: int, n: int, silence: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._rank, self._silence, self._now = store, rank, silence, now
        self._count, self._ended = 0, threading.Event()
        self._heard = {other: (b"", now()) for other in range(n) if other != rank}
        self._answered = now()  # when the store last did
        self._between = min(SECONDS_BETWEEN, silence / 4)
        # Two threads: the first may wait for a store that is out of reach, and then the second notices.
        self._threads = [
            threading.Thread(target=work, name="heartbeat", daemon=True) for work in (self._exchange, self._watch)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Say goodbye: the others go on without this process. The interpreter may end only when nobody asks the store
        any more: it would end that thread within code that cannot be left so, and the process would abort."""
        self._ended.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(LONGEST_ANSWER)
        with suppress(RuntimeError):  # whoever holds the store may have left before
            self._store.set(_key(self._rank), GOODBYE.decode())

    def exchange(self) -> None:
        """One sign of life, and a look at those of the others."""
        self._count += 1
        self._store.set(_key(self._rank), str(self._count))
        for other, (latest, _) in list(self._heard.items()):
            found = self._store.get(_key(other)) if self._store.check([_key(other)]) else b""
            if found not in (latest, b""):
                self._heard[other] = found, self._now()
        self._answered = self._now()

    def lost(self) -> str:
        """Who has been silent for too long, or nothing."""
        oldest = self._now() - self._silence
        if self._answered < oldest:
            return "the machine of process 0"
        silent = [other for other, (latest, since) in self._heard.items() if since < oldest and latest != GOODBYE]
        return f"process {silent[0]}" if silent else ""

    def _exchange(self) -> None:
        while not self._ended.wait(self._between):
            with suppress(RuntimeError):  # no answer, or nobody there: `lost` sees how long ago the last one was
                self.exchange()

    def _watch(self) -> None:
        while not self._ended.wait(self._between):
            who = self.lost()
            if who and not self._ended.is_set():
                line = f"{who} has not been heard of for {self._silence:g} seconds; {REMEDY}"
                sys.stderr.write(f"error (process {self._rank}): {line}\n")
                sys.stderr.flush()
                os._exit(2)  # the main thread waits where no exception reaches it


def _key(rank: int) -> str:
    return f"lexigraft/alive/{rank}"
