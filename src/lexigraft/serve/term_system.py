"""A system of weighted terms, opened to be asked at any of its prunings."""

from dataclasses import replace
from threading import Lock
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.compiled import are_loaded
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.pinned import where_it_stands
from lexigraft.core.types import Vocabulary
from lexigraft.retrieve.answer import FoundDocument, found_documents
from lexigraft.retrieve.finding import Asked, explanations, find
from lexigraft.retrieve.nearest_words import postings_of
from lexigraft.retrieve.notices import Notices
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.place import Place, find_place
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.retrieve.unknown_words import unknown_words
from lexigraft.search.overlap import TERMS as OF_TERMS
from lexigraft.serve.offered import Offer
from lexigraft.serve.reading_ahead import reading_ahead
from lexigraft.serve.refused import AGAIN, RefusedError

MOST_PRUNINGS = 16  # indexes of one system that are open at once
REPLACED = "this system is being replaced; ask again in a second"

Documents = tuple[FoundDocument | PlainDocument, ...]


class TermSystem:
    """Everything is opened by its maker, but for indexes of other prunings, which are when they are first asked for.

    Queries are cut here and not by the state that is searched, so that one open index serves every qk."""

    def __init__(self, offer: Offer, threads: int, former: "TermSystem | None" = None) -> None:
        """`former` is the system that this one replaces, whose encoders it may go on with."""
        self.offer = offer
        place = self._find_place()
        self.qk, self.dk, self.why = place.qk, place.dk, place.why
        self.place: Place = replace(place, qk=0, name=offer.name)
        self.state = Opened(self.place, encoders=threads)
        self._prunings: dict[DocumentCut, Opened] = {self.dk: self.state}
        self._lock, self._order_lock = Lock(), Lock()
        self._order: tuple[list[str], NDArray[np.int32]] | None = None
        self.postings = postings_of(self.state)
        self.notices = Notices(place, self.state)
        if former is not None and self.state.is_model:  # BM25's know how often words are in the documents
            _share_encoders(former.state, self.state)
        warm(self.state)
        self.unread = reading_ahead(self.state)

    def _find_place(self) -> Place:
        return find_place(self.offer.source.path, self.offer.system)

    @property
    def n_documents(self) -> int:
        return self.state.index.n_documents

    def search(self, state: Opened, query: str, searched: Row, asked: Asked) -> tuple[Documents, float]:
        """The best documents for a vector, as it is searched, with what is to be shown of them; and the moment when
        they were found."""
        found = find(state, query, searched, asked)
        moment = perf_counter()
        return found_documents(state, searched, found, explanations(state, searched, found, False)), moment

    @property
    def vocabulary(self) -> Vocabulary:
        return self.state.index.vocabulary

    @property
    def terms_in_order(self) -> tuple[list[str], NDArray[np.int32]]:
        """All terms in the order of their characters, and the number of each: sorted once, whoever asks meanwhile."""
        with self._order_lock:
            if self._order is None:
                terms = list(self.vocabulary.terms)
                order = sorted(range(len(terms)), key=terms.__getitem__)
                self._order = [terms[at] for at in order], np.array(order, np.int32)
            return self._order

    def at(self, qk: QueryCut | None, dk: DocumentCut | None) -> tuple[Opened, QueryCut, DocumentCut]:
        """The state whose documents keep `dk`, and the (qk, dk) that are meant where one is not given."""
        kept = self.dk if dk is None else dk
        return self._pruned_to(kept), self.qk if qk is None else qk, kept

    def can_serve(self, dk: DocumentCut) -> bool:
        """Whether there is an index whose documents keep `dk`; none is made for a request."""
        run = self.place.run
        if dk == self.dk:
            return True
        return run is not None and where_it_stands(run.index(self.place.view, self.place.system, dk)).is_dir()

    def _pruned_to(self, dk: DocumentCut) -> Opened:
        if (open_already := self._prunings.get(dk)) is not None:
            return open_already
        run = self.place.run
        if run is None or not self.can_serve(dk):
            raise RefusedError(422, f"dk of {self.offer.name} is not allowed: /systems lists the points that there are")
        with self._lock:
            if dk not in self._prunings:
                path = run.index(self.place.view, self.place.system, dk)
                opened = Opened(replace(self.place, index=path, dk=dk))
                self._require_same_version(opened)
                _share_encoders(self.state, opened)
                opened.words = self.state.words  # the same texts, read by the same encoder
                if len(self._prunings) >= MOST_PRUNINGS:
                    self._prunings.pop(next(key for key in self._prunings if key != self.dk))
                self._prunings[dk] = opened
            return self._prunings[dk]

    def _require_same_version(self, other: Opened) -> None:
        """A run that is made anew has its indexes replaced one after the other: a later one does not fit this system,
        whose successor is opened as soon as all of it is there."""
        made_of = [(one.index.vocab_fingerprint, one.parents.get("vectors")) for one in (self.state, other)]
        if made_of[0] != made_of[1]:
            raise RefusedError(503, REPLACED, AGAIN)


def _share_encoders(former: Opened, other: Opened) -> None:
    """A model is open once for all that it wrote; the fingerprint in its description says that it is the same, and that
    of the vocabulary that terms have the same numbers."""
    told = [(one.index.query_encoder, one.index.vocab_fingerprint) for one in (former, other)]
    if told[0] == told[1]:
        other.encoders = former.encoders
        other.encoder = former.encoder


def warm(state: Opened) -> None:
    """Open and load all that a first question would wait for; what is open is then of one version."""
    state.encoders.open_all()
    if not state.index.n_documents or not len(state.index.vocabulary):
        return
    row = np.zeros(1, np.int32), np.ones(1, np.float32)
    found = find(state, "", row, Asked(10, (), 0.0, 0, OF_TERMS))
    for document in found_documents(state, row, found, explanations(state, row, found, False)):
        document.as_json()
    unknown_words(state, "a question")
    state.encode("a question")
    _ = state.keeps_texts, state.metadata
    if are_loaded():
        state.index.segments[0].index.postings(0)  # for what is said of a term
