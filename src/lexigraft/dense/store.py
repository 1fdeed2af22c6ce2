"""Dense document vectors on disk: the files of a `dense-vectors` artifact, read by memory map. They are their own
index: a search multiplies all of them.

row_ids.*, titles.*    string tables: document ids, and what to show for them
vectors.npy            float32 or float16 [rows x width], row by row
tie_rank.npy           int32 [rows], the position of each row in `doc_id` order, which breaks ties
meta.json              counts, and the encoder that writes queries for them
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Int32s
from lexigraft.core.arrays import StringTable, open_array
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.encoder_description import ENCODER
from lexigraft.core.errors import InputError
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import known_as, of_one_version
from lexigraft.core.stored_record import COUNT, one_of, read_record, whole
from lexigraft.core.types import document_of, passage_id
from lexigraft.core.validation import parts, require_length, require_permutation, wrong
from lexigraft.vectors.validate import validate_tables

KIND, FORMAT_VERSION = "dense-vectors", 1
META, ROW_IDS, TITLES, VECTORS, TIE_RANK = "meta.json", "row_ids", "titles", "vectors.npy", "tie_rank.npy"


OF_META = {
    "n_rows": COUNT,
    "width": whole(1, 1 << 20),
    "bits": one_of(16, 32),
    "query_encoder": ENCODER,
}  # what meta.json may say


@dataclass(frozen=True)
class DenseVectorsMeta:
    """`query_encoder`: {"kind": "dense", "model": the way from here to the encoder, "fingerprint": its own}.
    `passages`: the rows are parts of documents, and their scores are to be folded."""

    n_rows: int
    width: int
    bits: int
    query_encoder: Mapping[str, Any]
    passages: bool = False


@dataclass(frozen=True)
class DenseVectors:
    """`matrix` [rows, width]."""

    path: Path
    meta: DenseVectorsMeta
    row_ids: StringTable
    titles: StringTable
    matrix: NDArray[Any]
    tie_rank: Int32s
    fingerprint: str

    @property
    def n_rows(self) -> int:
        return self.meta.n_rows

    @cached_property
    def row_of_rank(self) -> Int32s:
        """The inverse of `tie_rank`."""
        inverse = np.empty_like(self.tie_rank)
        inverse[self.tie_rank] = np.arange(len(self.tie_rank), dtype=np.int32)
        return inverse

    @cached_property
    def document_rank(self) -> Int32s:
        """Of passages: the place of each row's document in `doc_id` order; rows of one document share it."""
        documents = [document_of(identifier) for identifier in self.row_ids]
        rank = {identifier: place for place, identifier in enumerate(sorted(set(documents)))}
        return np.array([rank[identifier] for identifier in documents], np.int32)

    def names(self, rows: NDArray[np.int32]) -> list[str]:
        """The ids of the documents that rows belong to."""
        found = list(self.row_ids.take(rows))
        return [document_of(identifier) for identifier in found] if self.meta.passages else found

    def holds(self, doc_id: str) -> bool:
        return self._find(doc_id) is not None

    def row_of(self, doc_id: str) -> int:
        """The row of a document; of one in passages, that of its first. Raises `InputError` for an unknown id."""
        found = self._find(doc_id)
        if found is None:
            raise InputError(f"there is no document {doc_id!r} among these {self.n_rows}")
        return found

    def _find(self, doc_id: str) -> int | None:
        """Binary search over the ids in order."""
        wanted = passage_id(doc_id, 0) if self.meta.passages else doc_id
        rank = bisect_left(range(self.n_rows), wanted, key=self._id_at)
        return int(self.row_of_rank[rank]) if rank < self.n_rows and self._id_at(rank) == wanted else None

    def _id_at(self, rank: int) -> str:
        return self.row_ids[int(self.row_of_rank[rank])]


def write_meta(folder: Path, meta: DenseVectorsMeta) -> None:
    """What is known when all rows are written: how many there are, and their order by id."""
    write_json(folder / META, asdict(meta))
    row_ids = list(StringTable(folder, ROW_IDS))
    rank = np.empty(len(row_ids), np.int32)
    rank[sorted(range(len(row_ids)), key=row_ids.__getitem__)] = np.arange(len(row_ids), dtype=np.int32)
    np.save(folder / TIE_RANK, rank)


@of_one_version
def open_dense_vectors(path: Path, checksums: bool = True) -> DenseVectors:
    """The dense vectors at `path`, mapped; raises where another artifact lies there."""
    manifest = open_artifact(path, KIND, FORMAT_VERSION, checksums)
    meta = read_record(path / META, DenseVectorsMeta, OF_META)
    numbers = open_array(path / VECTORS, np.dtype(f"float{meta.bits}"))
    require_length(path / VECTORS, len(numbers), meta.n_rows * meta.width)
    tables = StringTable(path, ROW_IDS), StringTable(path, TITLES)
    rank = open_array(path / TIE_RANK, np.int32)
    matrix = numbers.reshape(meta.n_rows, meta.width)
    found = DenseVectors(known_as(path), meta, *tables, matrix, rank, manifest.fingerprint)
    validate_unless_known(path, manifest, checksums, lambda: _validate(found))
    return found


def _validate(found: DenseVectors) -> None:
    path, n_rows = found.path, found.n_rows
    validate_tables(path, (found.row_ids, found.titles), {ROW_IDS: n_rows, TITLES: n_rows})
    require_permutation(path / TIE_RANK, found.tie_rank, n_rows)
    if not all(np.isfinite(part).all() for part in parts(found.matrix.reshape(-1))):
        raise wrong(path / VECTORS, "holds what is not a finite number")
