"""The threshold that a cost asks for: what a word must weigh in a document to stay in the index.

A query of plain words costs the postings of its terms, so the cost of an index is the sum over terms of how likely a
query asks for each, times its postings. Where nobody has asked yet, a term is taken to be asked for in proportion to
df x idf^.75 (`likely`): of what was tried, that came nearest to the costs of true queries. One threshold for all
documents was better than so many terms a document, which leaves long documents poor (docs/LOG.md has both).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lexigraft.core.array_types import Float64s
from lexigraft.core.types import SparseMatrix
from lexigraft.vectors.lexical import inverse_document_frequency

RARITY = 0.75  # power of a term's IDF: with 1 true costs were .37 to .57 of BM25's for a half, with .5 .43 to .73
SAMPLE, CELLS = 4096, 1 << 26  # rows by which the threshold is found, evenly spaced, and terms of them, at most


def likely(weights: SparseMatrix) -> Float64s:
    """How likely a query's word is each term, where nothing is known of queries."""
    frequency = np.bincount(weights.term_ids, minlength=weights.n_terms)
    found = frequency * inverse_document_frequency(weights.n_rows, frequency) ** RARITY
    return found / max(1e-30, float(found.sum()))


def sampled_rows(n_rows: int, n_terms: int = 1) -> NDArray[np.int64]:
    """The rows by which the threshold is found: all, or some, where each may have so many terms."""
    at_most = max(1, min(n_rows, SAMPLE, CELLS // max(1, n_terms)))
    return np.unique(np.linspace(0, n_rows - 1, at_most).astype(np.int64))


def threshold_for(rows: Iterable[csr_matrix], asked: Float64s, most: float) -> float:
    """The lowest weight at which the postings of `rows` cost no more than `most`, when terms are asked for as `asked`
    says; 0 where all of them do not."""
    found = [(one.data, asked[one.indices]) for one in rows]
    weights = np.concatenate([np.zeros(0, np.float32), *(data for data, _ in found)])
    order = np.argsort(-weights, kind="stable")
    costs = np.cumsum(np.concatenate([np.zeros(0), *(cost for _, cost in found)])[order])
    if not len(costs) or costs[-1] <= most:
        return 0.0
    beyond = int(np.searchsorted(costs, most, side="right"))  # the first entry that costs too much
    return float(np.nextafter(weights[order[beyond]], np.float32(np.inf)))
