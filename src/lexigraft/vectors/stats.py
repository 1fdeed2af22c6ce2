"""Statistics of vectors that a fine-tuned model wrote (S6; pre-training study, appendix G, tables 8 and 9).

At each pruning, a row keeps its k heaviest terms (0: all). Standard deviations are those of a population, as those of
raw logits are (`train.logits`); the weights here are pooled ones, all above 0.

    L0, L0-std           mean and std over the rows of how many terms a row has
    logit-score-std @t   for each term in t rows or more, the std of its weight over the rows that hold it; the mean of
                         these over such terms. None where there is no such term
    logit-cnt @t         how many terms are in t rows or more
    pos-ls-len-std       the std of how many rows hold a term, over all terms of the vocabulary, unused ones included

The study's thresholds are 10,000, 5,000 and 1,000 of 20,372,952 documents; here they are the same share of the rows,
rounded up. One pass, in memory for a chunk of rows and three numbers for each term and pruning.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexigraft.core.array_types import Float32s, Float64s, Int32s, Int64s
from lexigraft.core.arrays import release_pages
from lexigraft.core.compiled import compiled
from lexigraft.core.cut import DocumentCut, document_cut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.store import ENTRIES_PER_CHUNK, row_ranges

STUDY_DOCUMENTS = 20_372_952
STUDY_THRESHOLDS = (10_000, 5_000, 1_000)
DOCUMENT_PRUNINGS = (0, 20, 10, 5)
QUERY_PRUNINGS = (0, 7, 5)


def scaled_thresholds(n_rows: int) -> tuple[int, ...]:
    """The study's occurrence thresholds as the same share of `n_rows`, rounded up; equal ones once."""
    scaled = (-(-threshold * n_rows // STUDY_DOCUMENTS) for threshold in STUDY_THRESHOLDS)
    return tuple(dict.fromkeys(scaled))


class PrunedStatistics:
    """Adds rows up, some at a time, that were pruned to one size."""

    def __init__(self, n_terms: int) -> None:
        self.n_rows, self._sum, self._sum_of_squares = 0, 0, 0  # of the rows' numbers of terms, as whole numbers
        self._counts = np.zeros(n_terms, np.int64)
        self._means, self._squares = np.zeros(n_terms), np.zeros(n_terms)

    def add(self, indptr: Int64s, term_ids: Int32s, weights: Float32s) -> None:
        sizes = np.diff(indptr)
        self.n_rows += len(sizes)
        self._sum += int(sizes.sum())
        self._sum_of_squares += int((sizes * sizes).sum())
        add_weights(term_ids, weights, self._counts, self._means, self._squares)

    def result(self, thresholds: Sequence[int]) -> dict[str, Any]:
        variance = self._sum_of_squares * self.n_rows - self._sum**2  # exact, times n_rows^2
        by_threshold = []
        for threshold in thresholds:
            enough = self._counts >= max(1, threshold)
            stds = np.sqrt(self._squares[enough] / self._counts[enough])
            score_std = float(stds.mean()) if len(stds) else None
            by_threshold.append({"threshold": threshold, "logit-score-std": score_std, "logit-cnt": len(stds)})
        return {
            "L0": self._sum / self.n_rows,
            "L0-std": variance**0.5 / self.n_rows,
            "pos-ls-len-std": float(self._counts.std()) if len(self._counts) else 0.0,
            "by_threshold": by_threshold,
        }


@compiled
def add_weights(term_ids: Int32s, weights: Float32s, counts: Int64s, means: Float64s, squares: Float64s) -> None:
    """Add each weight to its term's count, mean and sum of squared distances from the mean (Welford)."""
    for i in range(len(term_ids)):
        term, weight = term_ids[i], np.float64(weights[i])
        counts[term] += 1
        distance = weight - means[term]
        means[term] += distance / counts[term]
        squares[term] += distance * (weight - means[term])


def vector_statistics(
    matrix: SparseMatrix,
    prunings: Sequence[DocumentCut],
    thresholds: Sequence[int] | None = None,
    progress: Progress = SILENT,
    entries_at_once: int = ENTRIES_PER_CHUNK,
) -> dict[str, Any]:
    """`rows`, `terms`, `thresholds` (None: the study's, scaled to the rows), and for each of `prunings` its `keep` and
    what the module's text names."""
    if not matrix.n_rows:
        raise InputError("there are no vectors to measure: the matrix has no rows")
    if not prunings:
        raise SettingError("prunings = () are not allowed: one or more of what is kept, 0 for all")
    prunings = [document_cut(keep, "prunings") for keep in prunings]
    if thresholds is not None and (not thresholds or min(thresholds) < 1):
        raise SettingError(f"thresholds = {tuple(thresholds)} are not allowed: one or more numbers of rows, from 1 on")
    chosen = scaled_thresholds(matrix.n_rows) if thresholds is None else tuple(thresholds)
    added = {keep: PrunedStatistics(matrix.n_terms) for keep in prunings}
    counts = {keep for keep in prunings if not isinstance(keep, str)}
    descending = sorted(counts, key=lambda keep: -keep if keep else -np.inf)
    for start, end in progress.track(row_ranges(matrix.indptr, entries_at_once), "measuring vectors"):
        span = slice(matrix.indptr[start], matrix.indptr[end])
        rows = (matrix.indptr[start : end + 1] - matrix.indptr[start], matrix.term_ids[span], matrix.weights[span])
        for mass in {keep for keep in prunings if isinstance(keep, str)}:
            added[mass].add(*prune_rows(*rows, mass))
        for keep in descending:  # pruning what is pruned already gives the same, and there is less of it
            rows = prune_rows(*rows, keep)
            added[keep].add(*rows)
        release_pages(matrix.term_ids, matrix.weights)
    return {
        "rows": matrix.n_rows,
        "terms": matrix.n_terms,
        "thresholds": list(chosen),
        "prunings": [{"keep": keep, **added[keep].result(chosen)} for keep in prunings],
    }
