"""A dense system or a hybrid of a run, opened to be asked: what a retriever searches where there are no terms."""

import math
from collections.abc import Sequence
from functools import cached_property

from lexigraft.core.errors import InputError, SettingError, require
from lexigraft.core.types import Ranking, ScorePart, WholeScore, document_of
from lexigraft.index.shared_texts import SharedTexts, open_shared_texts
from lexigraft.retrieve.answer import Answer
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.hits import Hit
from lexigraft.retrieve.place import Place
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.search.hybrid import HybridTextSearch, place_in
from lexigraft.search.text_search import SparseTextSearch, TextSearch
from lexigraft.stages.text_searches import open_text_search


class OpenedPeer:
    """The system that `place` names; its encoder is loaded with the first question."""

    def __init__(self, place: Place) -> None:
        assert place.run is not None, "only runs have such systems"
        self.place, self.local = place, None  # no index of terms is behind it
        self.opened: TextSearch = open_text_search(place.run, place.view, place.system)

    @cached_property
    def _texts(self) -> SharedTexts | None:
        return None if self.place.texts is None else open_shared_texts(self.place.texts)

    @property
    def n_documents(self) -> int:
        return self.opened.n_documents

    @property
    def passages(self) -> bool:
        return self.opened.passages

    @property
    def keeps_texts(self) -> bool:
        return self._texts is not None

    def again(self) -> "OpenedPeer":
        """The same, as it is now."""
        return OpenedPeer(self.place)

    def close(self) -> None:
        """What is held goes with the object."""

    def hits(self, queries: Sequence[str], asked: Asked, threads: int = 0) -> list[list[Hit]]:
        """The best documents of every query, in order; none of one without a letter. All are ranked together, whatever
        `threads` there may be."""
        return [
            [
                Hit(rank, doc_id, score, self.opened.shown(doc_id)[0])
                for rank, (doc_id, score) in enumerate(zip(found.doc_ids, found.scores, strict=True), 1)
            ]
            for found in self._ranked(queries, asked)
        ]

    def answer(self, query: str, asked: Asked) -> Answer:
        """The same of one query, with what the documents say. It has no terms."""
        (found,) = self._ranked([query], asked)
        ranked = enumerate(zip(found.doc_ids, found.scores, strict=True), 1)
        return Answer(query, (), tuple(self._document(rank, *one) for rank, one in ranked), self.keeps_texts)

    def take_apart(self, query: str, doc_id: str) -> WholeScore:
        """What each system adds to the score of a document, wherever it is in the ranking. Raises where there is no
        such document, or no query."""
        if not query.strip():
            raise InputError("the text is empty; give at least one word")
        opened, name, doc_id = self.opened, self.place.system, self._held_as(doc_id)
        asked = opened.encode_all([query])
        if not isinstance(opened, HybridTextSearch):
            place, score = _found(opened.search(asked[0], opened.n_documents), doc_id)
            return WholeScore(name, score or 0.0, "", (ScorePart(name, False, place, score, score or 0.0),))
        (rankings,) = opened.candidates(asked, [""])
        amounts = opened.fusion.amounts(rankings, doc_id)
        of_parts = zip(opened.names, opened.parts, rankings, amounts, opened.fusion.asked, strict=True)
        return WholeScore(
            name,
            math.fsum(amounts),
            opened.fusion.described,
            tuple(
                ScorePart(called, isinstance(part, SparseTextSearch), *_found(ranking, doc_id), adds, is_asked)
                for called, part, ranking, adds, is_asked in of_parts
            ),
        )

    @property
    def system_of_terms(self) -> str:
        """Of a hybrid, the system whose part of a score has terms; empty where there is none."""
        if not isinstance(self.opened, HybridTextSearch):
            return ""
        named = zip(self.opened.names, self.opened.parts, strict=True)
        return next((name for name, part in named if isinstance(part, SparseTextSearch)), "")

    def place_of(self, doc_id: str) -> tuple[str, int]:
        """(title, row) of a document that is there."""
        title, _, row = self.opened.shown(self._held_as(doc_id))
        return title, row

    def _held_as(self, doc_id: str) -> str:
        """The id of a document, which may be given by that of one of its passages."""
        known = doc_id if self.opened.holds(doc_id) or not self.passages else document_of(doc_id)
        if not self.opened.holds(known):
            raise InputError(f"there is no document {doc_id!r} among the {self.n_documents} of {self.place.name}")
        return known

    def _document(self, rank: int, doc_id: str, score: float) -> PlainDocument:
        title, row_id, row = self.opened.shown(doc_id)
        kept = None if self._texts is None else self._texts.get(row_id, row)
        if kept is None:
            return PlainDocument(rank, doc_id, score, title)
        return PlainDocument(rank, doc_id, score, kept.title, kept.text)

    def _ranked(self, queries: Sequence[str], asked: Asked) -> list[Ranking]:
        require(asked.k >= 1, "k", asked.k, "1 or more")
        self._require_plain(asked)
        places = [place for place, query in enumerate(queries) if query.strip()]
        encoded = self.opened.encode_all([queries[place] for place in places]) if places else []
        found = dict(zip(places, self.opened.search_all(encoded, asked.k, [""] * len(places)), strict=True))
        return [found.get(place, Ranking("", (), ())) for place in range(len(queries))]

    def _require_plain(self, asked: Asked) -> None:
        given = {"where": bool(asked.where), "overlap": bool(asked.overlap), "two_step": bool(asked.two_step)}
        if wrong := next((name for name, is_given in given.items() if is_given), ""):
            raise SettingError(
                f"{self.place.name} is searched as a whole, without {wrong}: that goes by the lists of an inverted "
                "index; leave it out, or search a system of terms, such as bm25"
            )


def _found(ranking: Ranking, doc_id: str) -> tuple[int, float | None]:
    """(rank, score) of a document; 0 and None where it has none."""
    place = place_in(ranking, doc_id)
    return place, ranking.scores[place - 1] if place else None
