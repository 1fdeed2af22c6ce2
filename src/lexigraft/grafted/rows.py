"""The rows of a grafted index: what BM25 weighs a document's words, what its neighbours lend, what its vector says.

    Y + borrowed Z + told R              for words that the document does not have
    Y + lifted (borrowed Z + told R)     for its own; those of a title, of few words, stay as they are

Z is the mean of Y over a document's nearest others, weighted by exp(SHARPNESS (cosine - that of the nearest)), weights
adding up to 1; R is the regression's. A document's own words count for less: what neighbours of a short text share with
it is what does not tell them apart, and lifting that lost on collections of titles more than borrowed words gained
(docs/results/grafted.md). Of the sum, what weighs at least a threshold stays, the same for all documents.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lexigraft.core.array_types import Float32s
from lexigraft.core.types import SparseMatrix
from lexigraft.grafted.neighbours import Neighbours
from lexigraft.grafted.regression import Regression
from lexigraft.grafted.shares import Shares, neighbour_shares, own_lifts

NEGLIGIBLE = 0.2  # of the threshold: terms of which no document's vector can say so much are not looked at
CELLS_AT_ONCE = 1 << 24  # of a block that is multiplied out


class Graft(NamedTuple):
    """All that the rows are made of: Y, the documents' vectors, their neighbours, the regression, and the shares."""

    weights: SparseMatrix
    vectors: NDArray[np.floating]
    neighbours: Neighbours
    regression: Regression
    shares: Shares

    def rows(self, wanted: NDArray[np.int64], threshold: float) -> Iterator[csr_matrix]:
        """The `wanted` rows, some at a time: term ids ascending, weights of at least `threshold` and above 0."""
        of_all = csr_matrix(
            (self.weights.weights, self.weights.term_ids, self.weights.indptr),
            shape=(self.weights.n_rows, self.weights.n_terms), copy=False,
        )  # fmt: skip
        regression = self._that_matters(threshold)
        place = np.full(self.weights.n_terms, -1, np.int32)
        place[regression.terms] = np.arange(len(regression.terms), dtype=np.int32)
        lifts = own_lifts(self.weights.indptr, self.shares.lifted)
        at_once = max(1, CELLS_AT_ONCE // max(1, len(regression.terms)))
        for start in range(0, len(wanted), at_once):
            some = wanted[start : start + at_once]
            told = np.maximum(regression.centred(self.vectors[some]) @ regression.rows.T, 0) * self.shares.told
            lent = (lending(self.neighbours, some, self.weights.n_rows) @ of_all) * self.shares.borrowed
            yield added(of_all[some], lent, told, place, regression.terms, lifts[some], threshold)

    def _that_matters(self, threshold: float) -> Regression:
        """The regression of the terms whose told weight may be more than a negligible part of the threshold: a product
        is at most that of the lengths (Cauchy and Schwarz), and vectors of unit length less their mean at most 1 + that
        mean's."""
        longest = 1 + float(np.linalg.norm(self.regression.mean))
        most = self.shares.told * np.linalg.norm(self.regression.rows, axis=1) * longest
        return self.regression.only((most > 0) & (most >= NEGLIGIBLE * threshold))


def lending(neighbours: Neighbours, rows: NDArray[np.int64], n_documents: int) -> csr_matrix:
    """[rows, documents]: what each neighbour lends of its words; each row adds up to 1, or to 0 without neighbours."""
    found, shares = neighbours.rows[rows], neighbour_shares(neighbours.cosines[rows], neighbours.rows[rows])
    there = found >= 0
    ends = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
    return csr_matrix((shares[there].astype(np.float32), found[there], ends), shape=(len(rows), n_documents))


def added(
    own: csr_matrix,
    lent: csr_matrix,
    told: Float32s,
    place: NDArray[np.int32],
    terms: NDArray[np.int32],
    lifts: Float32s,
    threshold: float,
) -> csr_matrix:
    """A document's `own` words, what neighbours `lent`, and what vectors tell of `terms` (`told` [rows, len(terms)],
    which is used up), added up where that is at least the threshold. `place`: of every term its column in `told`, or
    -1; `lifts`: of every document, how much of what is added its own words get."""
    n_terms = own.shape[1]
    cells_own, cells_lent = _cells(own), _cells(lent)
    cells = np.sort(np.concatenate((cells_own, cells_lent)))
    cells = cells[np.diff(cells, prepend=-1) > 0]  # each once
    row_of, term_of = cells // n_terms, (cells % n_terms).astype(np.int32)
    gain, lift = np.zeros(len(cells), np.float32), np.ones(len(cells), np.float32)
    data = np.zeros(len(cells), np.float32)
    gain[np.searchsorted(cells, cells_lent)] = lent.data
    at_own = np.searchsorted(cells, cells_own)
    data[at_own], lift[at_own] = own.data, np.repeat(lifts, np.diff(own.indptr))
    column = place[term_of]
    there = column >= 0
    gain[there] += told[row_of[there], column[there]]
    told[row_of[there], column[there]] = 0  # it is counted with what is there
    data += lift * gain
    stays = (data >= threshold) & (data > 0)
    rows, columns = np.nonzero((told >= threshold) & (told > 0))
    found = csr_matrix(
        (
            np.concatenate((data[stays], told[rows, columns])).astype(np.float32),
            (np.concatenate((row_of[stays], rows)), np.concatenate((term_of[stays], terms[columns]))),
        ),
        shape=own.shape,
    )
    found.sort_indices()
    return found


def _cells(rows: csr_matrix) -> NDArray[np.int64]:
    """Where each entry stands: row times the number of terms, and its term."""
    row_of = np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
    found: NDArray[np.int64] = row_of * rows.shape[1] + rows.indices
    return found
