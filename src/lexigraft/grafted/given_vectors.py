"""Vectors of documents that a user made by whatever they have, a vendor's service included: checked, brought to unit
length and into the order of the documents, and written as `dense.store` keeps its own.

vectors.npy            float16 or float32 [rows x width], row by row; a document without any text has zeros
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.artifact import canonical_json, hash_file
from lexigraft.core.errors import InputError
from lexigraft.core.plain_files import written_aside
from lexigraft.core.progress import SILENT, Progress
from lexigraft.grafted.given_blocks import Block, Given
from lexigraft.grafted.given_files import given_array, open_given, parquet_files

VECTORS = "vectors.npy"  # as dense.store calls it

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GivenMeta:
    """`bits` of a number as written; `n_without`: documents whose rows are zeros, as they have no text; `n_unknown`:
    rows of the source whose ids no document has, which were left out. `by_id`: the source said whose each row is, which
    else its place alone does."""

    n_rows: int
    width: int
    bits: int
    n_without: int
    n_unknown: int
    by_id: bool


def write_given_vectors(
    source: Path | NDArray[Any],
    row_ids: Sequence[str],
    out: Path,
    bits: int = 16,
    without_text: Iterable[int] = (),
    progress: Progress = SILENT,
) -> GivenMeta:
    """Write the vectors at `source`, a file, a folder of Parquet files or an array, into the folder `out`, in the order
    of `row_ids`. `without_text`: the rows of documents that have none; whatever the source has for them, they get
    zeros, which is no direction and so near to nothing. Every other document must have a vector. Raises `InputError`
    naming file, row and id of what is wrong."""
    given = open_given(source) if isinstance(source, Path) else given_array(source)
    if not given.by_id and given.n_rows != len(row_ids):
        raise InputError(
            f"{given.name} has {given.n_rows:,} rows, and there are {len(row_ids):,} documents: it may be in another "
            "order, or of another version of the collection; write a row for each document in the collection's order, "
            "or Parquet with ids"
        )
    empty = np.zeros(len(row_ids), bool)
    empty[list(without_text)] = True
    with written_aside(out / VECTORS) as aside, aside.open("wb") as file:
        placed = _Placed(given, row_ids, empty, file, bits)
        for _ in progress.track(placed.all(), "reading vectors", given.n_rows):
            pass
        placed.require_all()
    return GivenMeta(len(row_ids), placed.width, bits, int(empty.sum()), placed.n_unknown, given.by_id)


def fingerprint_of_given(source: Path | NDArray[Any]) -> str:
    """Of the contents of the source, for manifests."""
    if not isinstance(source, Path):
        array = np.ascontiguousarray(given_array(source).matrix)
        said = hashlib.sha256(canonical_json([array.dtype.str, list(array.shape)]).encode())
        said.update(array.data)
        return said.hexdigest()
    if not source.is_dir():
        open_given(source)  # raises where there is none
        return hash_file(source)
    hashes = {file.name: hash_file(file) for file in parquet_files(source)}
    return hashlib.sha256(canonical_json(hashes).encode()).hexdigest()


class _Placed:
    """Rows written to their places."""

    def __init__(
        self, given: Given, row_ids: Sequence[str], empty: NDArray[np.bool_], file: BinaryIO, bits: int
    ) -> None:
        self._given, self._row_ids, self._empty, self._file = given, row_ids, empty, file
        self._row_of = {identifier: row for row, identifier in enumerate(row_ids)} if given.by_id else {}
        self._seen = np.zeros(len(row_ids), bool)
        self._dtype = np.dtype(f"<f{bits // 8}")
        self._begin, self.width, self.n_unknown, self._unknown = 0, 0, 0, ""

    def all(self) -> Iterator[int]:
        """Write every row, and tell of each."""
        for block in self._given.blocks():
            rows = self._rows_of(block)
            if len(block.numbers):
                self._require_width(block)
                self._write(rows[rows >= 0], self._unit(block, rows)[rows >= 0])
            yield from range(len(rows))

    def _rows_of(self, block: Block) -> NDArray[np.int64]:
        """The documents' rows, -1 for one that is unknown."""
        if block.ids is None:
            self._seen[block.places] = True
            return block.places
        rows = np.full(len(block.ids), -1, np.int64)
        for place, identifier in enumerate(block.ids):
            row = self._row_of.get(identifier)
            if row is None:
                self.n_unknown += 1
                self._unknown = self._unknown or identifier
                continue
            if self._seen[row]:
                raise InputError(
                    f"{block.where(place)}: the id {identifier!r} was there before; write one vector for each document"
                )
            self._seen[row], rows[place] = True, row
        return rows

    def _require_width(self, block: Block) -> None:
        width = block.numbers.shape[1]
        if not self.width:
            self.width = width
            self._begin = _write_header(self._file, self._dtype, len(self._row_ids) * width)
        if width != self.width:
            raise InputError(
                f"{block.where(0)}: its vector has {width:,} numbers, those before it have {self.width:,}; all must "
                "be by one encoder"
            )

    def _unit(self, block: Block, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The block's rows of unit length; zeros for documents without text."""
        unit, largest = unit_rows(block.numbers)
        wanted = (rows >= 0) & ~self._empty[rows]
        for place in np.flatnonzero(wanted & ~((largest > 0) & np.isfinite(largest)))[:1].tolist():
            raise InputError(f"{block.where(place)}, document {self._row_ids[rows[place]]!r}: {_problem(block, place)}")
        unit[~wanted] = 0
        return unit

    def _write(self, rows: NDArray[np.int64], unit: NDArray[Any]) -> None:
        """Runs of rows that follow each other are written at once."""
        ready = unit.astype(self._dtype)
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist()
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            self._file.seek(self._begin + int(rows[start]) * self.width * self._dtype.itemsize)
            self._file.write(ready[start:end].data)

    def require_all(self) -> None:
        """Raise where a document that has text got no vector; say how many rows were of none."""
        name, n_documents = self._given.name, len(self._row_ids)
        missing = np.flatnonzero(~self._seen & ~self._empty)
        others = f"{self.n_unknown:,} of its ids are of no document here, such as {self._unknown!r}"
        if len(missing):
            also = f", and {others}" if self.n_unknown else ""
            raise InputError(
                f"{name} has no vector for {len(missing):,} of {n_documents:,} documents, the first of them "
                f"{self._row_ids[missing[0]]!r}{also}; write a vector for each, with the ids that the collection has"
            )
        if not self.width:
            raise InputError(f"{name} has no vectors, and no document has a text; there is nothing to do")
        if self.n_unknown:
            log.warning("%s: %s; they are left out", name, others)


def unit_rows(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(rows of unit length; of each the largest size of a number, which is 0 or not finite where it has no direction).
    Sizes are divided by first, so that no square is too large or too small for its kind."""
    wide: Any = numbers.astype(np.float64 if numbers.dtype.itemsize == 8 else np.float32)
    largest = np.abs(wide).max(axis=1)
    wide /= np.where((largest > 0) & np.isfinite(largest), largest, 1)[:, None]
    with np.errstate(invalid="ignore"):
        length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        return wide / np.where(length > 0, length, 1)[:, None], largest


def _problem(block: Block, place: int) -> str:
    row = block.numbers[place]
    bad = np.flatnonzero(~np.isfinite(row))
    if not len(bad):
        return "all of its numbers are 0, and the document has text; encode it again"
    hint = " (float16 ends at 65,504: write float32)" if row.dtype == np.float16 and np.isinf(row[bad[0]]) else ""
    return f"its number {bad[0]:,} (from 0) is {row[bad[0]]}{hint}; encode the document again"


def _write_header(file: BinaryIO, dtype: np.dtype[Any], length: int) -> int:
    """Begin a `.npy` file of so many numbers, which are zeros so far; returns where the first one stands."""
    header = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)
    begin = file.tell()
    file.truncate(begin + length * dtype.itemsize)
    return begin
