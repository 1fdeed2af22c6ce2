"""Rows of terms on disk, written piece by piece: the arrays of a sparse matrix, and the names of its rows."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lexigraft.core.arrays import ArrayWriter, StringTableWriter

WEIGHTS, COUNTS = ("weights", np.float32), ("counts", np.int32)


class RowsWriter:
    """Appends rows to indptr.npy, term_ids.npy and the file of `values` (its name, and the kind of its numbers)."""

    def __init__(self, folder: Path, values: tuple[str, DTypeLike] = WEIGHTS) -> None:
        name, dtype = values
        self._files = ExitStack()
        self._indptr = self._files.enter_context(ArrayWriter(folder / "indptr.npy", np.int64))
        self._term_ids = self._files.enter_context(ArrayWriter(folder / "term_ids.npy", np.int32))
        self._values = self._files.enter_context(ArrayWriter(folder / f"{name}.npy", dtype))
        self._indptr.append(np.zeros(1, np.int64))

    @property
    def n_rows(self) -> int:
        return self._indptr.length - 1

    def append_rows(self, ends: NDArray[Any], term_ids: NDArray[Any], values: NDArray[Any]) -> None:
        """Rows that end at `ends` of `term_ids` and `values`."""
        self._indptr.append(ends.astype(np.int64) + self._term_ids.length)
        self._term_ids.append(term_ids)
        self._values.append(values)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()


class DocumentRowsWriter(RowsWriter):
    """The same of documents, with the tables of their ids and titles."""

    def __init__(self, folder: Path, values: tuple[str, DTypeLike] = WEIGHTS) -> None:
        super().__init__(folder, values)
        self._row_ids = self._files.enter_context(StringTableWriter(folder, "row_ids"))
        self._titles = self._files.enter_context(StringTableWriter(folder, "titles"))

    def append_names(self, row_ids: Iterable[str], titles: Iterable[str]) -> None:
        self._row_ids.extend(row_ids)
        self._titles.extend(titles)
