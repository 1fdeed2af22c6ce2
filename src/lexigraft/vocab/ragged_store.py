"""Ragged rows on disk: read once from text, then memory-mapped by every process and every step that trains.

Any named tuple of arrays will do whose first, `indptr`, says where each row lies in the others.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from lexigraft.core.arrays import ArrayWriter, open_array

Ragged = TypeVar("Ragged", bound=tuple[Any, ...])


class RaggedWriter:
    """Appends parts, each with an `indptr` of its own, to the files NAME.FIELD.npy of a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._columns: list[ArrayWriter] = []
        self._end = 0
        self.n_rows = 0

    def append(self, part: tuple[Any, ...]) -> None:
        if not self._columns:  # the first part says what the fields are
            fields: tuple[str, ...] = part._fields  # type: ignore[attr-defined]
            files = (self._folder / f"{self._name}.{field}.npy" for field in fields)
            self._columns = [ArrayWriter(file, column.dtype) for file, column in zip(files, part, strict=True)]
            self._columns[0].append(np.zeros(1, np.int64))
        self._columns[0].append(part[0][1:] + self._end)
        for writer, column in zip(self._columns[1:], part[1:], strict=True):
            writer.append(column)
        self.n_rows, self._end = self.n_rows + len(part[0]) - 1, self._end + int(part[0][-1])

    def __enter__(self) -> "RaggedWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._columns:
            writer.__exit__(kind, error, trace)


def open_ragged(kind: type[Ragged], folder: Path, name: str) -> Ragged:
    """What a `RaggedWriter` wrote, memory-mapped."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return kind(*(open_array(folder / f"{name}.{field}.npy") for field in fields))
