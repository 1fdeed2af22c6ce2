"""`SparseEncoder`: a trained model, opened to write texts as weighted terms in matrices that scipy knows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

import numpy as np

from lexigraft.core.checked_arguments import checked
from lexigraft.core.errors import InputError, require
from lexigraft.core.types import Vocabulary
from lexigraft.inference.folder import BITS
from lexigraft.stages.find_model import find_model

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from lexigraft.vectors.text_encoder import Row, TextEncoder


class SparseEncoder:
    """A model that writes queries and documents over its vocabulary: rows are texts, columns are terms. Any thread may
    call it: one encodes at a time."""

    def __init__(self, queries: "TextEncoder", documents: "TextEncoder") -> None:
        self._queries, self._documents = queries, documents
        self._lock = Lock()  # for both: they read texts with one reader, whose memory is one thread's at a time

    @classmethod
    @checked
    def open(cls, path: str | Path, bits: int = 8) -> Self:
        """Open the model at `path`, or that of the run there; its matrices have 8 or 32 bits on a CPU. A GPU is used
        where there is one."""
        from lexigraft.vectors.open_network import open_network
        from lexigraft.vectors.text_encoder import TextEncoder

        require(bits in BITS, "bits", bits, "8 or 32")
        network = open_network(find_model(Path(path)), bits, on_gpu=True)
        return cls(TextEncoder(network, are_queries=True), TextEncoder(network, are_queries=False))

    @property
    def vocabulary(self) -> Vocabulary:
        """The terms, in the order of the columns."""
        return self._queries.network.reader.vocabulary

    @checked
    def encode_queries(self, texts: Sequence[str]) -> "csr_matrix":
        """One row a query, float32 [texts, terms]."""
        return self._encoded(self._queries, texts)

    @checked
    def encode_documents(self, texts: Sequence[str]) -> "csr_matrix":
        """One row a document, float32 [texts, terms]."""
        return self._encoded(self._documents, texts)

    @checked
    def decode(self, rows: "csr_matrix", top: int | None = None) -> list[list[tuple[str, float]]]:
        """Every row as (term, weight), heaviest first, at most `top` of them."""
        from scipy.sparse import csr_matrix, issparse

        if not issparse(rows):
            raise InputError(f"rows are a {type(rows).__name__}; give what encode_queries or encode_documents returned")
        require(top is None or top >= 0, "top", top, "0 or more, or None for all")
        rows = csr_matrix(rows)
        if rows.shape[1] != len(self.vocabulary):
            raise InputError(
                f"these rows have {rows.shape[1]} columns, and the model {len(self.vocabulary)} terms; they are of "
                "another model"
            )
        names = self.vocabulary.terms
        spans = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [
            sorted(
                ((names[int(term)], float(weight)) for term, weight in _entries(rows, start, end)),
                key=lambda item: (-item[1], item[0]),
            )[:top]
            for start, end in spans
        ]

    def _encoded(self, encoder: "TextEncoder", texts: Sequence[str]) -> "csr_matrix":
        with self._lock:
            rows = encoder.encode(list(texts))
        return self._matrix(rows)

    def _matrix(self, rows: "Iterable[Row]") -> "csr_matrix":
        from scipy.sparse import csr_matrix

        given = list(rows)
        indptr = np.cumsum([0, *(len(terms) for terms, _ in given)])
        terms = np.concatenate([np.zeros(0, np.int32), *(terms for terms, _ in given)])
        weights = np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in given)])
        return csr_matrix((weights, terms, indptr), shape=(len(given), len(self.vocabulary)))

    def __copy__(self) -> Self:
        return self  # another one would use the same reader with another lock

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=Lock())


def _entries(rows: "csr_matrix", start: int, end: int) -> "Iterable[tuple[int, float]]":
    return zip(rows.indices[start:end], rows.data[start:end], strict=True)
