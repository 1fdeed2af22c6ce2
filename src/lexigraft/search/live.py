"""Exact top-k over an index of any number of segments, with everything a search can ask for: conditions, an overlap
threshold, a second pass over full vectors, documents in passages.

A plain index is one segment. Scores are real numbers, integers times the segment's scale; ties, across segments too,
are broken by `doc_id`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.cut import QueryCut, query_cut
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Ranking, SparseMatrix, require_same_vocabulary
from lexigraft.index.live.reader import LiveIndex, Segment
from lexigraft.search.batch import answer_all
from lexigraft.search.full_rows import FoundRows, IndexSource, Source, VectorSource, dense_query
from lexigraft.search.overlap import checked_share, overlap_masks
from lexigraft.search.searcher import Searcher
from lexigraft.search.searching import Allowed, Found, narrowed_terms
from lexigraft.search.segments import best_of_all, in_one_order, titles_at
from lexigraft.search.two_step import SecondPass, require_enough_candidates, require_two_steps
from lexigraft.vectors.prune import prune_row
from lexigraft.vectors.store import DocumentVectors

NOTHING: Found = np.zeros(0, np.int32), np.zeros(0, np.float64)


class Place(NamedTuple):
    """A document that was found: where it lies, beside what a ranking says of it. Of a document in passages, `ordinal`
    is the row of the best one."""

    doc_id: str
    score: float
    segment: Segment
    ordinal: int
    number: int = 0  # of the segment in its index

    @property
    def title(self) -> str:
        return self.segment.index.titles[self.ordinal]


class LiveSearcher:
    """One state of an index, searched by one method; every method returns the same ranking.

    `overlap`: only rows that hold this share of the query's terms are found. `qk`: only the query's heaviest terms are
    searched, 0 for all. `two_step`: so many documents found this way are candidates, ranked by the dot product of the
    whole query with their full vectors, in double precision. Those are the ones in `vectors`, where the last store that
    has an id counts; without any, the rows of the index `full` of the same documents; without that, those of `index`.
    """

    def __init__(
        self,
        index: LiveIndex,
        method: str = "auto",
        overlap: float = 0.0,
        two_step: int = 0,
        qk: QueryCut = 0,
        vectors: Sequence[DocumentVectors] = (),
        full: LiveIndex | None = None,
    ) -> None:
        query_cut(qk)
        self.index, self._overlap, self._n_candidates, self._keep = index, checked_share(overlap), two_step, qk
        self._searchers = [Searcher(segment.index, method) for segment in index.segments]
        self._n_terms = index.segments[0].index.n_terms
        self._second: list[SecondPass] = []
        if two_step:
            require_two_steps(two_step, qk)
            self._second = second_passes(index, vectors, full)

    def search(self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, query_id: str = "") -> Ranking:
        """The k living documents with the largest dot product, ties by `doc_id`; only those that share a term. A
        document cut into passages has the score of its best one."""
        doc_ids, scores, _, _ = self._in_order(term_ids, weights, k, None)
        return Ranking(query_id, tuple(doc_ids), tuple(scores))

    def search_places(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Sequence[Allowed] | None = None,
        counted: NDArray[np.int32] | None = None,
    ) -> list[Place]:
        """The same with the place of each document, best first. `allowed`, one mask a segment of one byte a row, says
        which rows may be found (0: not). `counted`: the terms that an overlap is a share of, instead of the query's."""
        segments = self.index.segments
        doc_ids, scores, numbers, rows = self._in_order(term_ids, weights, k, allowed, counted)
        found = zip(doc_ids, scores, map(segments.__getitem__, numbers), rows, numbers, strict=True)
        return list(map(Place._make, found))

    def search_titled(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Sequence[Allowed] | None = None,
        counted: NDArray[np.int32] | None = None,
    ) -> tuple[list[str], list[float], list[str]]:
        """(ids, scores, titles) of what `search_places` finds: all strings are read together, which for many results
        is several times as fast."""
        doc_ids, scores, numbers, rows = self._in_order(term_ids, weights, k, allowed, counted)
        return doc_ids, scores, titles_at(self.index.segments, numbers, rows)

    def _in_order(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, *which: Any
    ) -> tuple[list[str], list[float], list[int], list[int]]:
        """(ids, scores, numbers of segments, rows) of the best of all segments; `which` may be found, as in
        `search_places`."""
        return in_one_order(self.index.segments, self._best(term_ids, weights, k, *which))

    def search_batch(self, queries: SparseMatrix, k: int, threads: int = 0) -> list[Ranking]:
        """One ranking per row of `queries`, in order, found by so many threads (0: one for each core)."""
        require_same_vocabulary("the queries", queries.vocab_fingerprint, "the index", self.index.vocab_fingerprint)

        def one(row: int) -> Ranking:
            return self.search(*queries.row(row), k, queries.row_ids[row])

        return answer_all(one, queries.n_rows, threads)

    def _best(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        allowed: Sequence[Allowed] | None,
        counted: NDArray[np.int32] | None = None,
    ) -> list[Found]:
        """The k best, as rows of each segment and their scores."""
        if k < 1:
            raise SettingError(f"k = {k} is not allowed: 1 or more")
        masks = visible(self.index.segments, allowed)
        if not self._keep and not self._second:
            return self._first_pass(term_ids, weights, k, masks, counted)
        terms, amounts = narrowed_terms(term_ids, self._n_terms), np.asarray(weights, np.float32)
        if len(terms) != len(amounts):
            raise InputError(f"a query of {len(terms)} terms has {len(amounts)} weights; give one for each term")
        heaviest = prune_row(terms, amounts, self._keep)
        if not self._second:
            return self._first_pass(*heaviest, k, masks, counted)
        require_enough_candidates(self._n_candidates, k)
        candidates = self._first_pass(*heaviest, self._n_candidates, masks, counted)
        query = dense_query(self._n_terms, terms, amounts)
        ranked = [
            second.rank(rows, query, k, mask) if len(rows) else NOTHING
            for second, (rows, _), mask in zip(self._second, candidates, masks, strict=True)
        ]
        return best_of_all(self.index.segments, ranked, k)

    def _first_pass(
        self,
        term_ids: NDArray[np.int32],
        weights: NDArray[np.float32],
        k: int,
        masks: list[Allowed | None],
        counted: NDArray[np.int32] | None,
    ) -> list[Found]:
        segments = self.index.segments
        if self._overlap:
            asked = (term_ids, weights) if counted is None else (counted, np.ones(len(counted), np.float32))
            masks = [*overlap_masks(segments, *asked, self._overlap, masks)]
        found = [
            searcher.search_ordinals(term_ids, weights, k, mask) if segment.n_living else NOTHING
            for searcher, segment, mask in zip(self._searchers, segments, masks, strict=True)
        ]
        return best_of_all(segments, found, k)


def visible(segments: Sequence[Segment], allowed: Sequence[Allowed] | None) -> list[Allowed | None]:
    """For each segment, the rows that live and are allowed; None for all."""
    if allowed is None:
        return [segment.allowed for segment in segments]
    if len(allowed) != len(segments):
        raise InputError(f"{len(allowed)} masks of what may be found, for {len(segments)} segments; give one for each")
    masks: list[Allowed | None] = []
    for segment, flags in zip(segments, allowed, strict=True):
        if len(flags) != segment.index.n_documents:
            raise InputError(f"{len(flags)} flags of what may be found, for {segment.index.n_documents} documents")
        flags = np.ascontiguousarray(flags, np.uint8)
        masks.append(flags if segment.allowed is None else segment.allowed * (flags != 0))
    return masks


def second_passes(index: LiveIndex, vectors: Sequence[DocumentVectors], full: LiveIndex | None) -> list[SecondPass]:
    """One a segment, by the full vectors of wherever they are."""
    indexes = [segment.index for segment in index.segments]
    for store in vectors:
        require_same_vocabulary("the vectors", store.matrix.vocab_fingerprint, "the index", index.vocab_fingerprint)
    if not vectors and full is None:
        own = [IndexSource(segment) for segment in index.segments]
        return [SecondPass(of, source.scores) for of, source in zip(indexes, own, strict=True)]
    sources: list[Source] = [VectorSource(store.matrix) for store in vectors]
    remedy = "give the vectors that the document was added with as well (vectors=PATH), or encode it again"
    if not vectors and full is not None:
        require_same_vocabulary("the full index", full.vocab_fingerprint, "the index", index.vocab_fingerprint)
        sources += [IndexSource(segment) for segment in full.segments]
        remedy = "make the pruned index and the full one of the same documents"
    found = FoundRows(indexes, sources, remedy)
    return [SecondPass(of, partial(found.scores, number)) for number, of in enumerate(indexes)]
