"""Boolean overlap threshold (S4): only documents that hold a given share of the query's terms are scored.

Terms are those with a weight above 0 that some document has: what the index does not know cannot be asked for. The rows
of documents in passages are the passages, each of which must hold the share by itself. A learned query has many terms
that nobody typed, and hardly a document holds half of them; so a caller may have only the query's own words counted.

A first pass over the query's lists counts, for each row, how many of them hold it. That costs about as much as the
search itself: the threshold is there for what it does to results, not for speed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import compiled
from lexigraft.core.errors import InputError, SettingError
from lexigraft.index.codec import DENSE, GAPS, HEADER, NONE, gap_at, gap_impact, impact_at, list_count
from lexigraft.index.inverted import Index
from lexigraft.index.live.reader import Segment
from lexigraft.search.lists import Lists, Terms, lists_of
from lexigraft.search.searching import Allowed, Found, Searching, narrowed_terms

TERMS, WORDS = "terms", "words"  # what a share may be of: all terms of a query, or those that its text holds
ROUNDING = 1e-9  # 0.55 x 20 is a little over 11 in floating point, and 11 terms are meant


class OverlapSearcher(Searching):
    """Another searcher, asked only for rows that hold at least `share` of the query's terms."""

    def __init__(self, searcher: Searching, share: float) -> None:
        self.index, self._searcher, self._share = searcher.index, searcher, checked_share(share)

    def search_ordinals(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.float32], k: int, allowed: Allowed | None = None
    ) -> Found:
        overlapping = overlap_mask(self.index, term_ids, weights, self._share, allowed)
        return self._searcher.search_ordinals(term_ids, weights, k, overlapping)


def overlap_mask(
    index: Index,
    term_ids: NDArray[np.int32],
    weights: NDArray[np.float32],
    share: float,
    allowed: Allowed | None = None,
) -> Allowed:
    """One byte a row: 1 where it holds at least `share` of the query's terms, and `allowed` does not forbid it."""
    return overlap_masks([Segment(index)], term_ids, weights, share, [allowed])[0]


def overlap_masks(
    segments: Sequence[Segment],
    term_ids: NDArray[np.int32],
    weights: NDArray[np.float32],
    share: float,
    allowed: Sequence[Allowed | None],
) -> list[Allowed]:
    """The same for every segment of an index: the terms are those that any living document of any segment has, so that
    merging segments changes nothing."""
    n_terms = segments[0].index.n_terms
    terms = narrowed_terms(term_ids, n_terms)
    if len(terms) != len(weights):
        raise InputError(f"a query of {len(terms)} terms has {len(weights)} weights; give one for each term")
    asked = terms[np.asarray(weights) > 0]
    held = np.zeros(len(asked), bool)
    for segment in segments:
        held[~held] = living_holds(segment, asked[~held])
    asked = np.ascontiguousarray(asked[held])
    needed = needed_terms(len(asked), share)
    return [rows_holding(segment.index, asked, needed, flags) for segment, flags in zip(segments, allowed, strict=True)]


def living_holds(segment: Segment, terms: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether any living row of a segment holds each of the terms."""
    lengths = segment.index.lengths[terms]
    n_deleted = segment.index.n_documents - segment.n_living
    held: NDArray[np.bool_] = lengths > n_deleted
    for place in np.flatnonzero((lengths > 0) & ~held).tolist():  # all of its rows may be deleted: look
        rows, _ = segment.index.postings(int(terms[place]))
        held[place] = segment.allowed is None or bool(segment.allowed[rows].any())
    return held


def rows_holding(index: Index, terms: NDArray[np.int32], needed: int, allowed: Allowed | None) -> Allowed:
    """One byte a row: 1 where it holds as many of the terms as are needed, and `allowed` does not forbid it."""
    if allowed is not None and len(allowed) != index.n_documents:
        raise InputError(f"{len(allowed)} flags of what may be found, for {index.n_documents} documents")
    mask = np.zeros(index.n_documents, np.uint8)
    mark_overlapping(lists_of(index), terms, needed, mask)
    return mask if allowed is None else mask & (np.asarray(allowed) != 0).astype(np.uint8)


def needed_terms(n_terms: int, share: float) -> int:
    """How many of n terms a row must hold: at least one."""
    return max(1, math.ceil(checked_share(share) * n_terms - ROUNDING))


def checked_share(share: float) -> float:
    if not 0 <= share <= 1:
        raise SettingError(f"overlap = {share} is not allowed: a share of the query's terms, 0 (off) to 1 (all)")
    return share


@compiled
def mark_overlapping(lists: Lists, terms: Terms, needed: int, mask: NDArray[np.uint8]) -> None:
    """Set mask[row] to 1 for rows that `needed` of the terms' lists or more hold. Fillers of lists of gaps have impact
    0 and count for nothing."""
    stream, range_size, bits = lists.stream, lists.range_size, lists.bits
    counts = np.zeros(min(range_size, len(mask)), np.int32)
    for number in range(len(lists.range_starts) - 1):
        first = number * range_size
        n_here = min(range_size, len(mask) - first)
        counts[:n_here] = 0
        for t in range(len(terms)):
            entry = np.int64(lists.entries[number, terms[t]])
            form, at = entry & 3, lists.range_starts[number] + (entry >> 2)
            if form == NONE:
                continue
            body, count = stream[at + HEADER :], list_count(stream, at)
            if form == DENSE:
                for place in range(n_here):
                    counts[place] += np.int32(impact_at(body, place, bits) > 0)
            elif form == GAPS:
                here = np.int64(-1)
                for i in range(count):
                    here += gap_at(body, i, bits)
                    counts[here] += np.int32(gap_impact(body, count, i, bits) > 0)
            else:
                for i in range(count):
                    counts[body[i]] += np.int32(1)
        for place in range(n_here):
            mask[first + place] = np.uint8(counts[place] >= needed)
