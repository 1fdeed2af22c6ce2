"""A query's vector to the places of the best documents, and what each of its terms adds to them."""

from collections.abc import Sequence
from typing import NamedTuple

from lexigraft.core.errors import require
from lexigraft.core.types import Explanation
from lexigraft.explain.contributions import explain, explain_rows
from lexigraft.index.live.reader import Segment
from lexigraft.retrieve.hits import Hit, WeightedTerm
from lexigraft.retrieve.opened import Opened, Row
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
    require(asked.overlap_of in (TERMS, WORDS), "overlap_of", asked.overlap_of, f"{TERMS} or {WORDS}")
    counted = state.own_terms(query) if asked.overlap and asked.overlap_of == WORDS else None
    searched = row if asked.two_step else state.cut(row)
    searcher = state.searcher(asked.overlap, asked.two_step)
    return searcher.search_places(*searched, asked.k, state.allowed(asked.where), counted)


def hits_of(found: Sequence[FoundPlace]) -> list[Hit]:
    """Places as a ranking says them."""
    return [Hit(rank, place.doc_id, place.score, place.title) for rank, place in enumerate(found, 1)]


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
