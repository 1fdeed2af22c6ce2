"""A stream in batches that are bounded by what they hold: some texts are a thousand times longer than others."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

TEXTS = 4096
CHARACTERS = 1 << 22

Item = TypeVar("Item")


def batches(
    items: Iterable[Item], length: Callable[[Item], int], most: int = TEXTS, characters: int = CHARACTERS
) -> Iterator[list[Item]]:
    """Consecutive items, at most `most` of them; a batch ends with the item that fills `characters`."""
    batch, size = list[Item](), 0
    for item in items:
        batch.append(item)
        size += length(item)
        if size >= characters or len(batch) >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
