"""Which rows of something made of the same documents are these of an index: full vectors, or counts of terms.

An index that was not reordered has the order of what it was made of; any other has the same order of ids. Either way
ids are compared before a row is believed.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import taken
from lexigraft.core.errors import InputError
from lexigraft.index.inverted import Index


class AlignedRows:
    """Finds the rows of a table by those of `index`; `what` names it in messages."""

    def __init__(self, index: Index, row_ids: Sequence[str], what: str) -> None:
        if len(row_ids) != index.n_documents:
            raise InputError(
                f"the {what} are of {len(row_ids)} documents or passages, the index of {index.n_documents}; give the "
                f"{what} that it was made of"
            )
        self._index, self._row_ids, self._what = index, row_ids, what
        self._checked = np.zeros(index.n_documents, bool)  # rows whose ids were found to be the same

    def rows(self, ordinals: NDArray[np.int32]) -> NDArray[np.int64]:
        """Which rows of the table are these of the index. Raises where they are of other documents."""
        if self._index.meta.reordered:
            rows = self._rows_by_id[self._index.tie_rank[ordinals]]
        else:
            rows = ordinals.astype(np.int64)
        new = ~self._checked[ordinals]  # strings are slow: each row is looked at once
        if new.any():
            self._require_same_ids(ordinals[new], rows[new])
            self._checked[ordinals[new]] = True
        return rows

    def _require_same_ids(self, ordinals: NDArray[np.int32], rows: NDArray[np.int64]) -> None:
        wanted, found = self._index.doc_ids.take(ordinals), taken(self._row_ids, rows)
        for here, there in zip(wanted, found, strict=True):
            if here != there:
                raise InputError(
                    f"document {here!r} of the index is {there!r} in the {self._what}; give the {self._what} that it "
                    "was made of"
                )

    @cached_property
    def _rows_by_id(self) -> NDArray[np.int64]:
        """The rows of the table in `doc_id` order: an index in another order has the same."""
        names = [row_id.encode() for row_id in self._row_ids]
        return np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
