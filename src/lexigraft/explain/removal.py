"""Vectors without some of their expansion terms (W3): what texts hold themselves always stays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.core.types import SparseMatrix
from lexigraft.explain.wackiness import TermScores, TextTerms, kept_indptr, mark_own


class Without(NamedTuple):
    """`changed`: the rows that lost a term; `weight`: the share of all weight that stayed."""

    matrix: SparseMatrix
    changed: NDArray[np.bool_]
    weight: float


def remove_terms(matrix: SparseMatrix, own: TextTerms, terms: NDArray[np.integer]) -> Without:
    """`matrix` without `terms`, where they are not among the `own` terms of a row's text."""
    removed = np.zeros(matrix.n_terms, bool)
    removed[terms] = True
    return keep_entries(matrix, ~removed[matrix.term_ids] | mark_own(matrix, own))


def without_expansion(matrix: SparseMatrix, own: TextTerms) -> Without:
    """What is left of each row is what its text holds itself."""
    return keep_entries(matrix, mark_own(matrix, own))


def keep_entries(matrix: SparseMatrix, kept: NDArray[np.bool_]) -> Without:
    """`matrix` with the entries that `kept` marks."""
    indptr = kept_indptr(matrix.indptr, kept)
    left = SparseMatrix(
        matrix.row_ids,
        indptr,
        np.asarray(matrix.term_ids)[kept],
        np.asarray(matrix.weights)[kept],
        matrix.n_terms,
        matrix.vocab_fingerprint,
    )
    whole = float(np.sum(matrix.weights, dtype=np.float64))
    weight = float(np.sum(left.weights, dtype=np.float64)) / whole if whole else 1.0
    return Without(left, np.diff(indptr) < np.diff(matrix.indptr), weight)


def wackiest_first(scores: TermScores, seed: int = 0, draw: int = 0) -> NDArray[np.int64]:
    """The terms that have a score, from the highest on. Many have exactly 1: equal ones come in a drawn order, because
    by their ids or their use they would not be a fair sample of each other. `draw`: which of several such orders."""
    generator = np.random.default_rng((seed, draw) if draw else seed)  # the first is what it was when there was one
    seen = generator.permutation(scores.seen)
    return seen[np.argsort(-scores.scores[seen], kind="stable")]


def cuts_ties(scores: TermScores, first: int) -> bool:
    """Whether the `first` wackiest terms are some of several with the same score, so that a draw decides which."""
    descending = -np.sort(-scores.scores[scores.seen])
    return 0 < first < len(descending) and bool(descending[first - 1] == descending[first])


def wackiest_share(scores: TermScores, share: float, seed: int = 0) -> NDArray[np.int64]:
    """The first floor(share x n) of them."""
    if not 0 <= share <= 1:
        raise SettingError(f"a share of {share} of the terms is not allowed: 0 to 1")
    order = wackiest_first(scores, seed)
    return order[: int(share * len(order))]


def over_threshold(scores: TermScores, threshold: float) -> NDArray[np.int64]:
    """The terms whose score is higher than `threshold`."""
    return np.flatnonzero(np.nan_to_num(scores.scores, nan=-np.inf) > threshold)


def log_scaled(n_terms: int) -> list[int]:
    """How many terms to remove: 1, 3, 10, 30, ... and all."""
    steps = [step * 10**power for power in range(len(str(n_terms))) for step in (1, 3)]
    return [*(step for step in steps if step < n_terms), *([n_terms] if n_terms else [])]


class Flag(NamedTuple):
    """How wacky one vector is: the mean score of its expansion terms by weight; None where none of them has one."""

    wackiness: float | None
    n_expansion: int
    n_scored: int


def flag(
    vector: tuple[NDArray[np.int32], NDArray[np.float32]], own: NDArray[np.int32], scores: NDArray[np.float32]
) -> Flag:
    """The wackiness of a query's vector (term ids, weights) whose text holds the terms `own`."""
    terms, weights = vector
    added = ~np.isin(terms, own)
    scored = added & ~np.isnan(scores[terms])
    total = float(weights[scored].sum(dtype=np.float64))
    mean = float(np.dot(weights[scored].astype(np.float64), scores[terms[scored]])) / total if total > 0 else None
    return Flag(mean, int(added.sum()), int(scored.sum()))
