"""How long work tells how far it is, without knowing who listens.

Library functions take a `Progress` and call it; the command line hands in one that draws bars, everyone else the silent
default.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        """Yield every item of `items`, showing `label`, rate and time left as it goes."""
        ...


class SilentProgress:
    def track(self, items: Iterable[Item], label: str, total: int | None = None) -> Iterator[Item]:
        yield from items


SILENT = SilentProgress()
