"""What queries touch in an index (corpus vocabulary study, Table 1), whatever the machine."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import SparseMatrix
from lexigraft.index.inverted import Index
from lexigraft.measure.cost import mean_terms, postings_per_query


class QueryStatistics(NamedTuple):
    """Lengths are in distinct terms, as vectors have them."""

    queries: int
    queries_without_terms: int
    query_terms: float  # |Q|
    document_terms: float  # |D|, the postings of a document
    postings_per_query: float


def query_statistics(queries: SparseMatrix, index: Index) -> QueryStatistics:
    """Of queries that are over the index's vocabulary; others raise."""
    return QueryStatistics(
        queries=queries.n_rows,
        queries_without_terms=int((np.diff(queries.indptr) == 0).sum()),
        query_terms=mean_terms(queries.indptr),
        document_terms=index.meta.n_postings / max(1, index.n_documents),
        postings_per_query=postings_per_query(queries, index),
    )


def added_terms(matrix: SparseMatrix, own_indptr: NDArray[np.int64], own_terms: NDArray[np.int32]) -> NDArray[np.int64]:
    """Of each row of `matrix`, how many of its terms are not among the row's own, which its text holds."""
    if len(own_indptr) != len(matrix.indptr):
        raise ValueError(f"{len(own_indptr) - 1} texts for {matrix.n_rows} vectors")
    is_own = np.isin(
        _keys(matrix.indptr, matrix.term_ids, matrix.n_terms), _keys(own_indptr, own_terms, matrix.n_terms)
    )
    own = np.concatenate(([0], np.cumsum(is_own)))
    n_own = own[matrix.indptr[1:]] - own[matrix.indptr[:-1]]
    return np.asarray(np.diff(matrix.indptr) - n_own, np.int64)


def _keys(indptr: NDArray[np.int64], terms: NDArray[np.int32], n_terms: int) -> NDArray[np.int64]:
    """One number a row and term."""
    rows: NDArray[np.int64] = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr))
    return rows * n_terms + terms
