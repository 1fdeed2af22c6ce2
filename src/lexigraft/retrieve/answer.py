"""An answer with everything there is to show: what the query became and, of each document, why it was found, what it
says and what else is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lexigraft.core.types import Contribution, Explanation
from lexigraft.index.metadata_values import Value
from lexigraft.index.texts import KeptText
from lexigraft.retrieve.finding import Asked, explanations, find, weighted_terms
from lexigraft.retrieve.hits import WeightedTerm
from lexigraft.retrieve.matched_words import MatchedWord, WordMatcher
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.retrieve.snippets import Snippet, Span, cut_snippet
from lexigraft.search.live import Place as FoundPlace


@dataclass(frozen=True)
class FoundDocument:
    """A document that was found. What must be read for it is read when it is asked for, and then kept."""

    rank: int
    doc_id: str
    score: float
    matches: tuple[Contribution, ...]  # what each shared term adds, the heaviest first
    passage: str  # of a document in passages, the id of the one that was found; else empty
    _state: Opened = field(repr=False, compare=False)
    _place: FoundPlace = field(repr=False, compare=False)
    _matcher: WordMatcher = field(repr=False, compare=False)

    @cached_property
    def _kept(self) -> KeptText | None:
        return self._state.text_of(self._place.segment.index, self._place.ordinal)

    @cached_property
    def kinds(self) -> tuple[str | None, ...]:
        """Of each of `matches` where it comes from, in a grafted system of a run: "own", "borrowed" or "vector"."""
        origins = self._state.origins
        if origins is None:
            return (None,) * len(self.matches)
        return tuple(origins.kinds(self._place.segment.index, self._place.ordinal, self.matches))

    @property
    def title(self) -> str:
        """The document's title, which may be empty. Without its text, what the index shows for it: a title cut to one
        line, or the beginning of the text."""
        return self._place.title if self._kept is None else self._kept.title

    @property
    def text(self) -> str | None:
        """What the document, or the passage of it, says; None where the index does not keep it."""
        return None if self._kept is None else self._kept.text

    @cached_property
    def snippet(self) -> Snippet | None:
        """The part of the text with the words that add most to the score; None without a text."""
        if self.text is None:
            return None
        points = {match.term_id: match.points for match in self.matches}
        return cut_snippet(self.text, self._matched_in(self.text), points)

    @cached_property
    def text_spans(self) -> tuple[Span, ...]:
        """The words of the text that matched, from character to character; none without a text."""
        return tuple((word.start, word.end) for word in self._matched_in(self.text or ""))

    @cached_property
    def title_spans(self) -> tuple[Span, ...]:
        """The words of the title that matched, from character to character."""
        return tuple((word.start, word.end) for word in self._matched_in(self.title))

    def _matched_in(self, text: str) -> list[MatchedWord]:
        """Of the query's words, those whose terms this document was indexed by: pruning may have left some out."""
        matched = {match.term_id for match in self.matches}
        return [word for word in self._matcher.find(text) if not matched.isdisjoint(word.terms)]

    @cached_property
    def metadata(self) -> dict[str, Value]:
        """What else is known of the document, by key; empty where the index has no metadata."""
        return self._state.metadata_of(self._place.segment.index, self._place.ordinal)

    def as_json(self, text: bool = True) -> dict[str, Any]:
        """For scripts; without `text`, the snippet alone says what is in the document."""
        snippet = self.snippet
        passage = {"passage": self.passage} if self.passage else {}
        return {
            "rank": self.rank,
            "doc_id": self.doc_id,
            **passage,
            "score": self.score,
            "title": self.title,
            "title_spans": self.title_spans,
            **({"text": self.text} if text else {}),
            "snippet": None if snippet is None else snippet._asdict(),
            "metadata": self.metadata,
            "matches": [
                {
                    "term": match.term,
                    "query_weight": match.query_weight,
                    "document_weight": match.document_weight,
                    "contribution": match.contribution,
                }
                for match in self.matches
            ],
        }


@dataclass(frozen=True)
class Answer:
    """`terms` are those that the query was searched with, heaviest first. `keeps_texts`: whether the index has any."""

    query: str
    terms: tuple[WeightedTerm, ...]
    hits: tuple[FoundDocument | PlainDocument, ...]
    keeps_texts: bool
    notices: tuple[str, ...] = ()  # what to tell whoever asked, such as a word that the collection does not have

    def as_json(self, text: bool = True) -> dict[str, Any]:
        """For scripts; without `text`, documents have their snippets alone."""
        return {
            "query": self.query,
            "terms": [term._asdict() for term in self.terms],
            "hits": [hit.as_json(text) for hit in self.hits],
            "notices": list(self.notices),
        }


def answer_query(state: Opened, query: str, asked: Asked) -> Answer:
    """The query is encoded once, and a list is read once for all documents that were found. What a second pass found
    is explained by the index of whole vectors."""
    row, whole = state.encode(query), bool(asked.two_step)
    searched = row if whole else state.cut(row)
    found = find(state, query, row, asked)
    hits = found_documents(state, searched, found, explanations(state, row, found, whole))
    return Answer(query, tuple(weighted_terms(state, query, searched)), hits, state.keeps_texts)


def found_documents(
    state: Opened, searched: Row, found: Sequence[FoundPlace], explained: Sequence[Explanation]
) -> tuple[FoundDocument, ...]:
    """What was found by a vector, in order, with what is to be shown of each document."""
    matcher = WordMatcher(searched[0].tolist(), state.words)
    together = zip(found, explained, strict=True)
    return tuple(_document(state, rank, place, why, matcher) for rank, (place, why) in enumerate(together, 1))


def _document(state: Opened, rank: int, place: FoundPlace, why: Explanation, matcher: WordMatcher) -> FoundDocument:
    index = place.segment.index
    passage = index.doc_ids[place.ordinal] if index.meta.passages else ""
    return FoundDocument(rank, place.doc_id, place.score, why.contributions, passage, state, place, matcher)
