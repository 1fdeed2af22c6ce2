"""Two-step search: a pruned first pass finds candidates, an exact second pass ranks them by their full vectors.

The first pass cuts the query to its heaviest terms and searches an index that may hold the heaviest terms of each
document alone. The second takes the candidates' vectors as the encoder wrote them, without 8-bit impacts, and the whole
query. What the first pass does not find stays lost.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.core.errors import SettingError
from lexigraft.core.types import require_same_vocabulary
from lexigraft.index.inverted import Index
from lexigraft.search.alignment import AlignedRows
from lexigraft.search.searching import Allowed, Found, Searching
from lexigraft.vectors.prune import prune_rows
from lexigraft.vectors.store import DocumentVectors


class TwoStepSearcher(Searching):
    """`first` gives the `n_candidates` best documents of the query's `keep` heaviest terms (0: all); they are ranked
    by the dot product of the whole query with `vectors`, in double precision."""

    def __init__(self, first: Searching, vectors: DocumentVectors, n_candidates: int, keep: int = 0) -> None:
        if n_candidates < 1:
            raise SettingError(f"two-step = {n_candidates} is not allowed: 1 candidate or more")
        if keep < 0:
            raise SettingError(f"qk = {keep} is not allowed: 0 (the whole query) or more terms")
        self.index, self._first = first.index, first
        self._second = SecondPass(first.index, vectors)
        self._n_candidates, self._keep = n_candidates, keep

    def search_ordinals(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, allowed: Allowed | None = None
    ) -> Found:
        if k > self._n_candidates:
            remedy = f"ask for {self._n_candidates} or fewer results, or for {k} or more candidates"
            raise SettingError(f"k = {k} results cannot come from {self._n_candidates} candidates; {remedy}")
        terms, amounts = np.asarray(term_ids, np.int32), np.asarray(weights, np.float32)
        _, some, some_weights = prune_rows(np.array([0, len(terms)]), terms, amounts, self._keep)
        candidates, _ = self._first.search_ordinals(some, some_weights, self._n_candidates, allowed)
        return self._second.rank(candidates, terms, amounts, k, allowed)


class SecondPass:
    """Exact scores of given rows of an index, from the vectors that it was made of."""

    def __init__(self, index: Index, vectors: DocumentVectors) -> None:
        matrix = vectors.matrix
        require_same_vocabulary("the vectors", matrix.vocab_fingerprint, "the index", index.meta.vocab_fingerprint)
        self._index, self._matrix = index, matrix
        self._aligned = AlignedRows(index, matrix.row_ids, "vectors")

    def rank(
        self,
        candidates: NDArray[np.int32],
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Allowed | None = None,
    ) -> Found:
        """The k best of `candidates`, ties by `doc_id`; a document in passages has the score of its best one, whichever
        the first pass found."""
        if not self._index.meta.passages:
            scores = self._scores(candidates, term_ids, weights)
            order = np.lexsort((self._index.tie_rank[candidates], -scores))[:k]
            return candidates[order], scores[order]
        documents = self._index.document_rank
        rows = self._passages_of(documents[candidates])
        if allowed is not None:
            rows = rows[allowed[rows] != 0]
        scores = self._scores(rows, term_ids, weights)
        order = np.lexsort((self._index.tie_rank[rows], documents[rows], -scores))
        best = order[np.sort(np.unique(documents[rows[order]], return_index=True)[1])][:k]
        return rows[best], scores[best]

    def _scores(
        self, ordinals: NDArray[np.int32], term_ids: NDArray[np.int32], weights: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        rows = self._aligned.rows(ordinals)
        query = np.zeros(self._matrix.n_terms, np.float64)
        query[term_ids] = weights
        return dot_rows(self._matrix.indptr, self._matrix.term_ids, self._matrix.weights, rows, query)

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


@compiled
def dot_rows(
    indptr: NDArray[np.int64],
    term_ids: NDArray[np.int32],
    weights: NDArray[np.float32],
    rows: NDArray[np.int64],
    query: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The dot product of each of the rows with `query`, which has a number for every term, added up by term id."""
    scores = np.zeros(len(rows), np.float64)
    for i in range(len(rows)):
        total = 0.0
        for at in range(indptr[rows[i]], indptr[rows[i] + 1]):
            total += np.float64(weights[at]) * query[np.uint32(term_ids[at])]
        scores[i] = total
    return scores
