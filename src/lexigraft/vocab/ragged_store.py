"""Ragged rows on disk: read once from text, then memory-mapped by every process and every step that trains.

Any named tuple of arrays will do whose first, `indptr`, says where each row lies in the others.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lexigraft.core.arrays import ArrayWriter, open_array

Ragged = TypeVar("Ragged", bound=tuple[Any, ...])


def write_ragged(folder: Path, name: str, parts: Iterable[tuple[Any, ...]]) -> int:
    """Append parts, each with an `indptr` of its own, as NAME.FIELD.npy; returns the number of rows."""
    writers: list[ArrayWriter] = []
    n_rows, end = 0, 0
    with ExitStack() as open_files:
        for part in parts:
            if not writers:
                files = ((field, column.dtype) for field, column in zip(part._fields, part, strict=True))  # type: ignore[attr-defined]
                writers = [open_files.enter_context(ArrayWriter(folder / f"{name}.{f}.npy", t)) for f, t in files]
                writers[0].append(np.zeros(1, np.int64))
            writers[0].append(part[0][1:] + end)
            for writer, column in zip(writers[1:], part[1:], strict=True):
                writer.append(column)
            n_rows, end = n_rows + len(part[0]) - 1, end + int(part[0][-1])
    return n_rows


def open_ragged(kind: type[Ragged], folder: Path, name: str) -> Ragged:
    """What `write_ragged` wrote, memory-mapped."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return kind(*(open_array(folder / f"{name}.{field}.npy") for field in fields))
