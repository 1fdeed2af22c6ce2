"""What every form of given vectors is read as: blocks of rows, each of which knows its place in its file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int64s
from lexigraft.core.errors import InputError

KINDS = ("float16", "float32", "float64", "int8")


@dataclass(frozen=True)
class Block:
    """Some rows: `places` are their numbers in `file`, from 0; `ids` of files that have them."""

    file: str
    places: Int64s
    numbers: NDArray[Any]
    ids: Sequence[str] | None = None

    def where(self, row: int) -> str:
        """Such as: vectors.npy, row 7 (from 0)."""
        return f"{self.file}, row {self.places[row]:,} (from 0)"


class Given(Protocol):
    """Vectors that were opened. `by_id`: their rows come in any order, and say whose they are."""

    @property
    def name(self) -> str: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def by_id(self) -> bool: ...

    def blocks(self) -> Iterator[Block]:
        """All rows, some at a time; a block is read when the one before it was used."""
        ...


def require_kind(name: str, dtype: np.dtype[Any]) -> None:
    """Raise unless numbers are of a kind that vectors have."""
    if dtype.name not in KINDS:
        raise InputError(
            f"{name} holds {dtype.name}; vectors are {', '.join(KINDS[:-1])} or {KINDS[-1]}. Bits that are packed into "
            "bytes, and numbers that were moved to be positive, are not read: ask the encoder for float"
        )
