"""RM3: a query is expanded by the terms of what it finds (X3; Abdul-Jaleel et al., TREC 2004; Lavrenko and Croft, SIGIR
2001).

The relevance model of a query q is estimated from the documents R that it ranks highest,

    P(t|R) = sum over d in R of P(t|d) P(d|q),      P(t|d) = count of t in d / words of d

of which the best terms stay, made to sum to 1, and are mixed with the query's own terms:

    w(t) = original_weight P(t|q) + (1 - original_weight) P(t|R),      P(t|q) = count of t in q / counts of q

P(d|q) is made of the scores s(d) of the first retrieval, in one of two ways. `linear`: s(d) / sum of s, as Anserini
does with BM25's scores (Yang, Fang and Lin, SIGIR 2017). `softmax`: exp s(d) / sum of exp s, which is the model's own
form where scores are logarithms of likelihoods. As in Anserini, words in more than a tenth of the documents are no
feedback terms (`max_share`): they would be the best ones of most queries.
"""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import SparseMatrix, require_same_vocabulary
from lexigraft.expand.settings import Rm3Settings
from lexigraft.search.alignment import AlignedRows
from lexigraft.search.searching import Searching
from lexigraft.vectors.counts import TermCounts

Row = tuple[NDArray[np.int32], NDArray[np.float32]]


class Rm3:
    """Expands query vectors by what `searcher` finds, of whose documents `counts` are; costs a search and a pass over
    the terms of the documents found."""

    def __init__(self, searcher: Searching, counts: TermCounts, settings: Rm3Settings) -> None:
        meta = searcher.index.meta
        require_same_vocabulary("the counts", counts.vocab_fingerprint, "the index", meta.vocab_fingerprint)
        self._searcher, self._counts, self._settings = searcher, counts, settings
        self._aligned = AlignedRows(searcher.index, counts.row_ids, "counts")
        self._may_be_added = counts.document_frequency <= settings.max_share * counts.n_rows

    def expand(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32]) -> Row:
        """The expanded query, terms ascending, weights summing to 1; a query that finds nothing, or no term to add, is
        given back as it is. Of documents in passages, the best passage is the feedback."""
        found, scores = self._searcher.search_ordinals(term_ids, weights, self._settings.fb_docs)
        terms, model = self._relevance_model(self._aligned.rows(found), scores)
        if not len(terms):
            return term_ids, weights
        share = self._settings.original_weight
        own = np.asarray(weights, np.float64)
        everything = np.concatenate((np.asarray(term_ids, np.int32), terms))
        parts = np.concatenate((share * own / own.sum(), (1 - share) * model))
        expanded, place = np.unique(everything, return_inverse=True)
        mixed = np.bincount(place, parts, len(expanded)).astype(np.float32)
        return expanded[mixed > 0], mixed[mixed > 0]

    def _relevance_model(
        self, rows: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(terms, P(t|R)) of the best feedback terms, summing to 1; ties go to the lower term id."""
        counts = self._counts
        starts, ends = counts.indptr[rows], counts.indptr[rows + 1]
        at = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts.tolist(), ends.tolist())])
        share = np.repeat(self._document_weights(scores) / np.maximum(counts.lengths[rows], 1), ends - starts)
        terms, amounts = counts.term_ids[at], counts.counts[at] * share
        allowed = self._may_be_added[terms]
        distinct, place = np.unique(terms[allowed], return_inverse=True)
        model = np.bincount(place, amounts[allowed], len(distinct))
        best = np.argsort(-model, kind="stable")[: self._settings.fb_terms]
        best = best[model[best] > 0]
        return distinct[best], model[best] / max(model[best].sum(), np.finfo(np.float64).tiny)

    def _document_weights(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if not len(scores):
            return scores
        raw = scores if self._settings.document_weights == "linear" else np.exp(scores - scores.max())
        weights: NDArray[np.float64] = raw / raw.sum()
        return weights


def expanded_queries(
    queries: SparseMatrix,
    searcher: Searching,
    counts: TermCounts,
    settings: Rm3Settings | None = None,
    progress: Progress = SILENT,
) -> SparseMatrix:
    """Every row of `queries` expanded by RM3, in order, over the same vocabulary: search the same index with it."""
    require_same_vocabulary(
        "the queries", queries.vocab_fingerprint, "the index", searcher.index.meta.vocab_fingerprint
    )
    if searcher.index.meta.query_encoder.get("kind") == "model":
        raise SettingError("RM3 expands the words of a query: give an index of BM25, not one of a learned model")
    rm3 = Rm3(searcher, counts, settings or Rm3Settings())
    tracked = progress.track(range(queries.n_rows), "expanding queries", queries.n_rows)
    rows = [rm3.expand(*queries.row(row)) for row in tracked]
    return SparseMatrix(
        row_ids=queries.row_ids,
        indptr=np.cumsum([0, *(len(term_ids) for term_ids, _ in rows)], dtype=np.int64),
        term_ids=np.concatenate([np.zeros(0, np.int32), *(term_ids for term_ids, _ in rows)]),
        weights=np.concatenate([np.zeros(0, np.float32), *(weights for _, weights in rows)]),
        n_terms=queries.n_terms,
        vocab_fingerprint=queries.vocab_fingerprint,
    )
