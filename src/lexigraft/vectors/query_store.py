"""Query vectors on disk: the files of a `query-vectors` artifact, for queries that cost something to make.

row_ids.*, terms.*                      string tables: query ids, the vocabulary
indptr.npy term_ids.npy weights.npy     the CSR matrix
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTable, open_array, write_strings
from lexigraft.core.artifact import open_artifact
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.vectors.validate import validate_rows, validate_tables

KIND, FORMAT_VERSION = "query-vectors", 1


def write_query_vectors(queries: SparseMatrix, vocabulary: Vocabulary, folder: Path) -> None:
    """Write `queries`, which are over `vocabulary`, into `folder`."""
    write_strings(folder, "row_ids", queries.row_ids)
    write_strings(folder, "terms", vocabulary.terms)
    arrays: dict[str, NDArray[np.int64] | NDArray[np.int32] | NDArray[np.float32]] = {
        "indptr": queries.indptr, "term_ids": queries.term_ids, "weights": queries.weights
    }  # fmt: skip
    for name, array in arrays.items():
        with ArrayWriter(folder / f"{name}.npy", array.dtype) as file:
            file.append(array)


@of_one_version
def open_query_vectors(path: Path) -> tuple[SparseMatrix, Vocabulary]:
    """The query vectors at `path`, memory-mapped, and their vocabulary."""
    manifest = open_artifact(path, KIND, FORMAT_VERSION)
    vocabulary = Vocabulary(StringTable(path, "terms"))
    dtypes = {"indptr": np.int64, "term_ids": np.int32, "weights": np.float32}
    indptr, term_ids, weights = (open_array(path / f"{name}.npy", dtype) for name, dtype in dtypes.items())
    row_ids = StringTable(path, "row_ids")

    def validate() -> None:
        lengths = {"row_ids": len(indptr) - 1, "terms": len(vocabulary)}
        validate_tables(path, (row_ids, vocabulary.terms), lengths)
        validate_rows(path, indptr, term_ids, weights, "weights.npy", len(vocabulary))

    validate_unless_known(path, manifest, True, validate)
    return SparseMatrix(row_ids, indptr, term_ids, weights, len(vocabulary), vocabulary.fingerprint), vocabulary
