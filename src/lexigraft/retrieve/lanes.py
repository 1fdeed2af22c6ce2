"""Things that one thread at a time may use, several of a kind, for programs that answer on all cores."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Generic, TypeVar

T = TypeVar("T")


class Lanes(Generic[T]):
    """At most `most` things that `open_one` opens, each when all others are busy."""

    def __init__(self, open_one: Callable[[], T], most: int = 1) -> None:
        self._open_one, self._most = open_one, most
        self._free: list[T] = []
        self._n_opened = 0
        self._changed = Condition()

    @contextmanager
    def one(self) -> Iterator[T]:
        """One of them, which nobody else uses meanwhile. Who comes when all are busy waits."""
        thing = self._take()
        try:
            yield thing
        finally:
            self._give_back(thing)

    def open_all(self) -> None:
        """Open as many as there may be, now: who asks later waits for none."""
        if self._n_opened >= self._most:
            return  # taking those that are in use would keep others waiting
        taken = [self._take() for _ in range(self._most)]
        for thing in taken:
            self._give_back(thing)

    def _give_back(self, thing: T) -> None:
        with self._changed:
            self._free.append(thing)
            self._changed.notify()

    def _take(self) -> T:
        with self._changed:
            while not self._free and self._n_opened >= self._most:
                self._changed.wait()
            if self._free:
                return self._free.pop()
            self._n_opened += 1
        try:
            return self._open_one()
        except BaseException:
            with self._changed:
                self._n_opened -= 1
                self._changed.notify()
            raise
