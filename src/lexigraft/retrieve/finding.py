"""A query's vector to the places of the best documents, and what each of its terms adds to them."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import require
from lexigraft.core.types import Explanation
from lexigraft.explain.contributions import explain, explain_rows
from lexigraft.index.live.reader import Segment
from lexigraft.retrieve.hits import Hit, WeightedTerm
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.search.live import LiveSearcher
from lexigraft.search.live import Place as FoundPlace
from lexigraft.search.overlap import TERMS, WORDS


class Asked(NamedTuple):
    """What a search is asked beside the query."""

    k: int
    where: str | Sequence[str]
    overlap: float
    two_step: int
    overlap_of: str


def find(state: Opened, query: str, row: Row, asked: Asked) -> list[FoundPlace]:
    """The places of the best documents, for the whole vector of a query and its text."""
    searcher, searched, counted = _prepared(state, query, row, asked)
    return searcher.search_places(*searched, asked.k, state.allowed(asked.where), counted)


def find_hits(state: Opened, query: str, row: Row, asked: Asked) -> list[Hit]:
    """The same documents, as a ranking says them."""
    searcher, searched, counted = _prepared(state, query, row, asked)
    columns = searcher.search_titled(*searched, asked.k, state.allowed(asked.where), counted)
    make = partial(tuple.__new__, Hit)  # as `Hit._make`, for thousands of them in a third of the time
    return list(map(make, zip(range(1, len(columns[0]) + 1), *columns, strict=True)))


def _prepared(state: Opened, query: str, row: Row, asked: Asked) -> tuple[LiveSearcher, Row, NDArray[np.int32] | None]:
    """The searcher for what was asked, the vector that it is given, and the terms that an overlap is a share of."""
    require(asked.overlap_of in (TERMS, WORDS), "overlap_of", asked.overlap_of, f"{TERMS} or {WORDS}")
    counted = state.own_terms(query) if asked.overlap and asked.overlap_of == WORDS else None
    searched = row if asked.two_step else state.cut(row)
    return state.searcher(asked.overlap, asked.two_step), searched, counted


def explanations(state: Opened, row: Row, found: Sequence[FoundPlace], whole: bool) -> list[Explanation]:
    """One for each place, in order."""
    if whole:
        index = state.whole
        return [explain(index.segment_of(place.doc_id).index, *row, place.doc_id) for place in found]
    by_segment: dict[int, tuple[Segment, list[int]]] = {}
    for at, place in enumerate(found):
        by_segment.setdefault(id(place.segment), (place.segment, []))[1].append(at)
    explained: dict[int, Explanation] = {}
    for segment, places in by_segment.values():
        rows = [found[at].ordinal for at in places]
        explained |= zip(places, explain_rows(segment.index, *state.cut(row), rows), strict=True)
    return [explained[at] for at in range(len(found))]


def weighted_terms(state: Opened, text: str, row: Row) -> list[WeightedTerm]:
    """The terms of a text's vector, heaviest first."""
    own, names = set(state.own_terms(text).tolist()), state.index.vocabulary.terms
    named = [
        WeightedTerm(names[term_id], weight, term_id in own)
        for term_id, weight in zip(row[0].tolist(), row[1].tolist(), strict=True)
    ]
    return sorted(named, key=lambda item: (-item.weight, item.term))
