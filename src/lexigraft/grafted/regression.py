"""Which of the collection's own words a document with a given vector has: a ridge regression in closed form.

    B = (E'E + ridge I)^-1 E'Y        R = max(0, E B)

E are the documents' vectors less their mean [n, width], Y their weights of terms by BM25 [n, terms], and `ridge` is a
share of the mean diagonal of E'E. So B has one row of `width` numbers a term, as a model's head has, and one pass over
the documents, with a system of `width` equations, solves all of them: nothing is trained.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix

from lexigraft.core.array_types import Float32s, Float64s, Int32s
from lexigraft.core.arrays import release_pages
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix

RIDGE = 0.3  # of the mean diagonal
FEWEST = 3  # documents that must hold a term: of fewer, its row would only name those again
ROWS_AT_ONCE = 1 << 13
TERMS_AT_ONCE = 1 << 13
LEAST_SPREAD = 1e-6  # mean squared distance from the mean vector, below which all documents have the same one


class Regression(NamedTuple):
    """`rows` [len(terms), width]: B of those `terms` that enough documents hold, ascending; `mean` [width]: of all
    vectors, which is taken off before they are multiplied."""

    mean: Float32s
    terms: Int32s
    rows: Float32s

    def centred(self, vectors: NDArray[np.floating]) -> Float32s:
        """Vectors less the mean. Those of documents without any (all 0) stay so: nothing is known of their words."""
        found = np.asarray(vectors, np.float32)
        known: NDArray[np.bool_] = np.any(found != 0, axis=1)
        return (found - self.mean) * known[:, None]

    def only(self, keep: NDArray[np.bool_]) -> "Regression":
        """The same of some of its terms."""
        return Regression(self.mean, self.terms[keep], self.rows[keep])


def fit(
    vectors: NDArray[np.floating], weights: SparseMatrix, ridge: float = RIDGE, fewest: int = FEWEST,
    progress: Progress = SILENT,
) -> Regression:  # fmt: skip
    """The regression of `weights` on `vectors`, whose rows are of the same documents, in one pass over both."""
    width = vectors.shape[1]
    frequency = np.bincount(weights.term_ids, minlength=weights.n_terms)
    terms = np.flatnonzero(frequency >= fewest).astype(np.int32)
    place = np.full(weights.n_terms, -1, np.int32)
    place[terms] = np.arange(len(terms), dtype=np.int32)
    total, n_known = np.zeros(width), 0
    products: Float64s = np.zeros((width, width))
    with_terms, of_terms = np.zeros((len(terms), width), np.float32), np.zeros(len(terms))
    blocks = range(0, len(vectors), ROWS_AT_ONCE)
    for start in progress.track(blocks, "learning which words a vector has", len(blocks)):
        block = np.asarray(vectors[start : start + ROWS_AT_ONCE], np.float32)
        known = block.any(axis=1)
        total += block.sum(axis=0, dtype=np.float64)
        n_known += int(known.sum())
        products += block.T @ block
        rows = rows_of(weights, start, min(start + ROWS_AT_ONCE, len(vectors)), place, len(terms))
        with_terms += rows.T @ block
        of_terms += known @ rows
        release_pages(weights.term_ids, weights.weights)
    mean = total / max(1, n_known)
    # Sums of centred vectors are those of the vectors themselves less what the mean adds.
    products -= n_known * np.outer(mean, mean)
    with_terms -= np.outer(of_terms, mean).astype(np.float32)
    spread = float(np.trace(products))
    if not spread > LEAST_SPREAD * n_known:  # their vector then tells nothing
        return Regression(mean.astype(np.float32), terms[:0], with_terms[:0])
    products[np.diag_indices(width)] += ridge * spread / width
    factor = cho_factor(products)
    for start in range(0, len(terms), TERMS_AT_ONCE):  # in place: all of them in double precision would not be small
        some = with_terms[start : start + TERMS_AT_ONCE]
        some[:] = cho_solve(factor, some.T.astype(np.float64)).T
    return Regression(mean.astype(np.float32), terms, with_terms)


def rows_of(weights: SparseMatrix, start: int, end: int, place: Int32s, n_terms: int) -> csr_matrix:
    """Rows from `start` to `end` over the terms that have a `place`, which are `n_terms`; others (-1) are left out."""
    indptr = np.asarray(weights.indptr[start : end + 1]) - weights.indptr[start]
    span = slice(int(weights.indptr[start]), int(weights.indptr[end]))
    terms = place[weights.term_ids[span]]
    keep = terms >= 0
    ends = np.concatenate(([0], np.cumsum(keep)))[indptr]
    return csr_matrix((np.asarray(weights.weights[span])[keep], terms[keep], ends), shape=(end - start, n_terms))
