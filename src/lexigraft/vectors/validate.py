"""Vectors and counts that were made elsewhere, looked through before anything compiled reads them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import StringTable
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.core.validation import require_ascending_rows, require_length, require_pointers, require_positive, wrong


def validate_tables(path: Path, tables: Sequence[Sequence[str]], lengths: Mapping[str, int]) -> None:
    """Raise unless the string tables of these names, in the same order, have so many strings, all of them UTF-8."""
    for table, (name, length) in zip(tables, lengths.items(), strict=True):
        require_length(path / f"{name}.utf8", len(table), length, "strings")
        assert isinstance(table, StringTable), "what is opened from disk is a table"
        table.validate()


def validate_rows(
    path: Path, indptr: NDArray[np.int64], term_ids: NDArray[np.int32], values: NDArray[Any], name: str, n_terms: int
) -> None:
    """Raise unless these are rows of terms that ascend, and their `values`, in the file of that name, more than 0."""
    require_pointers(path / "indptr.npy", indptr, len(indptr) - 1, len(term_ids))
    require_length(path / name, len(values), len(term_ids))
    require_ascending_rows(path / "term_ids.npy", indptr, term_ids, n_terms)
    require_positive(path / name, values)


def validate_matrix(path: Path, matrix: SparseMatrix, vocabulary: Vocabulary) -> None:
    """Raise `ArtifactError` unless the matrix is one (see `SparseMatrix`) over the vocabulary that it says."""
    if vocabulary.fingerprint != matrix.vocab_fingerprint:
        raise wrong(path / "terms.utf8", "holds other terms than meta.json says")
    require_length(path / "indptr.npy", len(matrix.indptr), matrix.n_rows + 1)
    validate_rows(path, matrix.indptr, matrix.term_ids, matrix.weights, "weights.npy", matrix.n_terms)
