"""Whether the files of an index fit together: what can be seen without reading its lists.

Kernels do not check what they read: a place outside an array would end the process. This finds wrong sizes, and entries
that point outside their range, at the cost of one pass over the entries. Checksums find every damage, and what was made
elsewhere is looked through as a whole (index/validate.py).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import ArtifactError
from lexigraft.index.codec import HEADER


def require_structure(
    path: Path,
    n_documents: int,
    n_terms: int,
    range_size: int,
    entries: NDArray[np.uint32],
    n_words: int,
    range_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    tie_rank: NDArray[np.int32],
) -> None:
    """Raise `ArtifactError` unless the arrays of the index at `path` have the sizes they must, ranges follow each
    other, and no list begins outside its range."""
    n_ranges = -(-n_documents // range_size)
    sizes = (
        ("range_starts.npy", len(range_starts), n_ranges + 1),
        ("entries.npy", entries.size, n_ranges * n_terms),
        ("lengths.npy", len(lengths), n_terms),
        ("tie_rank.npy", len(tie_rank), n_documents),
    )
    for name, found, wanted in sizes:
        if found != wanted:
            raise ArtifactError(f"{path / name} has {found} numbers instead of {wanted}; build the index again")
    words = np.diff(range_starts)
    if range_starts[0] != 0 or range_starts[-1] != n_words or (words < 0).any():
        raise ArtifactError(
            f"{path / 'range_starts.npy'} does not fit stream.npy: it was damaged; build the index again"
        )
    last = entries.reshape(n_ranges, n_terms).max(axis=1, initial=0).astype(np.int64)
    if ((last > 0) & ((last >> 2) + HEADER > words)).any():
        raise ArtifactError(f"{path / 'entries.npy'} points outside stream.npy: it was damaged; build the index again")
