"""What a segment of a grafted live index keeps beside its counts.

    graft/vectors.npy            float16 [documents x width], of unit length or 0, in the order in which they were added
    graft/mean.npy terms.npy rows.npy
                                 the regression (grafted/regression.py), in the first segment alone: it is of the
                                 documents that were there when all became one segment, and tells later ones their words

The weights of its postings are those of the index's own words, not multiplied by any IDF.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import open_array
from lexigraft.core.validation import require_length, require_within, wrong
from lexigraft.index.inverted import Index

if TYPE_CHECKING:
    from lexigraft.grafted.regression import Regression

GRAFT, VECTORS = "graft", "vectors.npy"
ROWS_AT_ONCE = 1 << 13


def keep_graft(segment: Path, vectors: NDArray[np.floating], regression: "Regression | None") -> None:
    """Write the vectors of a segment's documents into its folder, and the `regression` where it is the first."""
    folder = segment / GRAFT
    folder.mkdir()
    np.save(folder / VECTORS, np.asarray(vectors, "<f2").reshape(-1))
    if regression is not None:
        np.save(folder / "mean.npy", regression.mean)
        np.save(folder / "terms.npy", regression.terms)
        np.save(folder / "rows.npy", regression.rows.reshape(-1))


def open_segment_vectors(segment: Path, index: Index) -> NDArray[np.float16] | None:
    """[documents, width], memory-mapped; None of a segment that is not grafted."""
    file = segment / GRAFT / VECTORS
    if not file.is_file():
        return None
    numbers, n_documents = open_array(file, np.float16), index.n_documents
    if not n_documents or not len(numbers) or len(numbers) % n_documents:
        raise wrong(file, f"has {len(numbers)} numbers for {n_documents} documents")
    return numbers.reshape(n_documents, -1)


def validate_vectors(segment: Path, index: Index) -> None:
    """Raise `ArtifactError` unless the vectors in a segment's folder, where there are some, are numbers."""
    vectors = open_segment_vectors(segment, index)
    if vectors is not None:
        require_finite(segment / GRAFT / VECTORS, vectors)


def open_regression(segment: Path, index: Index, width: int) -> "Regression":
    """That of the first segment, memory-mapped; nothing in it leads outside of the index's terms."""
    from lexigraft.grafted.regression import Regression  # searches need none of what it loads

    folder = segment / GRAFT
    mean, rows = (open_array(folder / f"{name}.npy", np.float32) for name in ("mean", "rows"))
    terms = open_array(folder / "terms.npy", np.int32)
    require_length(folder / "mean.npy", len(mean), width)
    require_length(folder / "rows.npy", len(rows), width * len(terms))
    require_within(folder / "terms.npy", terms, 0, index.n_terms)
    if len(terms) and not (np.diff(terms) > 0).all():
        raise wrong(folder / "terms.npy", "is not in the order of the terms")
    require_finite(folder / "mean.npy", mean)
    require_finite(folder / "rows.npy", rows)
    return Regression(mean, terms, rows.reshape(len(terms), width))


def require_finite(file: Path, numbers: NDArray[Any]) -> None:
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        if not np.isfinite(numbers[start : start + ROWS_AT_ONCE]).all():
            raise wrong(file, "holds what is no number")
