"""Two-step search: a pruned first pass finds candidates, an exact second pass ranks them by their full vectors.

The first pass cuts the query to its heaviest terms and searches an index that may hold the heaviest terms of each
document alone. The second takes the candidates' full vectors, at best as the encoder wrote them, without 8-bit impacts,
and the whole query. What the first pass does not find stays lost.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.cut import QueryCut, query_cut
from lexigraft.core.errors import SettingError
from lexigraft.core.types import require_same_vocabulary
from lexigraft.index.inverted import Index
from lexigraft.search.alignment import AlignedRows
from lexigraft.search.full_rows import RowScores, VectorSource, dense_query
from lexigraft.search.searching import Allowed, Found, Searching
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.store import DocumentVectors


class TwoStepSearcher(Searching):
    """`first` gives the `n_candidates` best documents of the query's `keep` heaviest terms (0: all); they are ranked
    by the dot product of the whole query with `vectors`, in double precision."""

    def __init__(self, first: Searching, vectors: DocumentVectors, n_candidates: int, keep: QueryCut = 0) -> None:
        require_two_steps(n_candidates, keep)
        self.index, self._first = first.index, first
        self._second = SecondPass(first.index, aligned_scores(first.index, vectors))
        self._n_candidates, self._keep = n_candidates, keep

    def search_ordinals(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, allowed: Allowed | None = None
    ) -> Found:
        require_enough_candidates(self._n_candidates, k)
        terms, amounts = np.asarray(term_ids, np.int32), np.asarray(weights, np.float32)
        _, some, some_weights = prune_rows(np.array([0, len(terms)]), terms, amounts, self._keep)
        candidates, _ = self._first.search_ordinals(some, some_weights, self._n_candidates, allowed)
        return self._second.rank(candidates, dense_query(self.index.n_terms, terms, amounts), k, allowed)


def require_two_steps(n_candidates: int, keep: QueryCut) -> None:
    """Raise unless so many candidates, found by so many terms of a query, are a first pass."""
    if n_candidates < 1:
        raise SettingError(f"two_step = {n_candidates} is not allowed: 1 candidate or more")
    query_cut(keep)


def require_enough_candidates(n_candidates: int, k: int) -> None:
    """Raise where k results cannot come from so few candidates."""
    if k > n_candidates:
        remedy = f"ask for {n_candidates} or fewer results, or for {k} or more candidates"
        raise SettingError(f"k = {k} results cannot come from {n_candidates} candidates; {remedy}")


def aligned_scores(index: Index, vectors: DocumentVectors) -> RowScores:
    """Exact scores of rows of an index by the vectors that it was made of; raises where it was made of others."""
    matrix = vectors.matrix
    require_same_vocabulary("the vectors", matrix.vocab_fingerprint, "the index", index.meta.vocab_fingerprint)
    aligned, source = AlignedRows(index, matrix.row_ids, "vectors"), VectorSource(matrix)
    return lambda ordinals, query: source.scores(aligned.rows(ordinals), query)


class SecondPass:
    """Exact scores of given rows of an index, by `scores` of their full vectors."""

    def __init__(self, index: Index, scores: RowScores) -> None:
        self._index, self._scores = index, scores

    def rank(
        self, candidates: NDArray[np.int32], query: NDArray[np.float64], k: int, allowed: Allowed | None = None
    ) -> Found:
        """The k best of `candidates`, ties by `doc_id`; a document in passages has the score of its best one, whichever
        the first pass found. `query` has a number for every term."""
        if not self._index.meta.passages:
            scores = self._scores(candidates, query)
            order = np.lexsort((self._index.tie_rank[candidates], -scores))[:k]
            return candidates[order], scores[order]
        documents = self._index.document_rank
        rows = self._passages_of(documents[candidates])
        if allowed is not None:
            rows = rows[allowed[rows] != 0]
        scores = self._scores(rows, query)
        order = np.lexsort((self._index.tie_rank[rows], documents[rows], -scores))
        best = order[np.sort(np.unique(documents[rows[order]], return_index=True)[1])][:k]
        return rows[best], scores[best]

    @cached_property
    def _by_document(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(rows of the index, their documents' ranks), by document."""
        rows = np.argsort(self._index.document_rank, kind="stable")
        return rows, self._index.document_rank[rows]

    def _passages_of(self, documents: NDArray[np.int32]) -> NDArray[np.int32]:
        rows, ranks = self._by_document
        starts, ends = np.searchsorted(ranks, documents), np.searchsorted(ranks, documents, "right")
        spans = [rows[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *spans]).astype(np.int32)
