"""Texts and results explained in words: which terms a text becomes, what each adds to a score, and which word of either
side it comes from."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexigraft.core.encoder_description import BM25_KINDS
from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Explanation
from lexigraft.explain.documents import ExplainedDocument, explain_document
from lexigraft.explain.results import DocumentSide, ExplainedResult, explain_result
from lexigraft.explain.texts import ExplainedText, Scores, explain_text
from lexigraft.explain.wackiness_store import open_wackiness
from lexigraft.index.inverted import Index
from lexigraft.retrieve.document_text import DocumentTexts, texts_of_index, texts_of_run
from lexigraft.retrieve.grafted_words import require_origins
from lexigraft.retrieve.opened import Row
from lexigraft.retrieve.place import how_to_keep_texts
from lexigraft.retrieve.retriever import Retriever
from lexigraft.retrieve.unknown_words import unknown_words
from lexigraft.vectors.tracing import Tracer

log = logging.getLogger(__name__)


class Explainer:
    """A retriever that says why. The texts of its documents are those of `data`, else those that the index or the run
    keeps, else those of the run's collection; where they are not at hand, the query's side alone is traced.

    `scores` are wackiness scores, one for each term of the vocabulary, NaN where a term has none.
    """

    def __init__(self, retriever: Retriever, data: str | None = None, scores: Scores | None = None) -> None:
        self.retriever, self._data, self._scores = retriever, data, scores

    @property
    def _terms(self) -> Retriever | None:
        """What has the terms: of a hybrid, its system that has some; of a dense system, none."""
        return self.retriever.of_terms

    @property
    def name(self) -> str:
        """What is explained, for people."""
        return self.retriever.name

    def use_wackiness(self, folder: Path) -> None:
        """Show how wacky terms are, by the scores at `folder`, which must be of the same vocabulary."""
        found, terms = open_wackiness(folder), self._terms or self.retriever
        found.require_vocabulary(terms.name, terms.vocabulary.fingerprint)
        self._scores = found.terms.scores

    def explain_text(self, text: str) -> ExplainedText:
        """The terms that a text becomes as a query; none where it has no word that the encoder knows."""
        terms = self._terms
        return self._without_terms(text) if terms is None else self._explain_query(text, terms)[0]

    def explain_result(self, text: str, doc_id: str, progress: Progress = SILENT) -> ExplainedResult:
        """Why a document has its score for a query. Of one in passages, its best passage is explained. Where the
        document's text is not at hand, a warning says so and the query's side alone is traced."""
        terms = self._terms
        whole = self.retriever.take_apart(text, doc_id) if self.retriever.place.kind else None
        if terms is None:
            assert whole is not None, "only a dense score has no terms"
            query, (title, _) = self._without_terms(text), self.retriever.shown(doc_id)
            return ExplainedResult(query, doc_id, title, whole.score, 0, 0.0, (), whole=whole)
        query, row = self._explain_query(text, terms)
        state = terms.opened
        index = state.index.segment_of(doc_id).index
        why = state.explain(row, doc_id)
        document = self._document_side(terms, why, index, progress) if why.contributions else None
        found = explain_result(why, query, index.titles[why.doc_ordinal], document)
        return found if whole is None else replace(found, score=whole.score, whole=whole)

    def explain_document(self, doc_id: str) -> ExplainedDocument:
        """Which words a document of a grafted system has that its text does not hold, and where they come from. Of one
        in passages, its first."""
        terms = self._terms
        origins = require_origins(None if terms is None else terms.opened.origins, self.name)
        assert terms is not None, "just required"
        index = terms.opened.index.segment_of(doc_id).index
        return explain_document(index, origins, index.ordinals(doc_id)[0])

    def _without_terms(self, text: str) -> ExplainedText:
        """Of a dense system."""
        _require_text(text)
        return ExplainedText(text, (), notices=self.retriever.notices(text), has_terms=False)

    def _explain_query(self, text: str, terms: Retriever) -> tuple[ExplainedText, Row]:
        """A query as it is read, and its vector, encoded once."""
        _require_text(text)
        state = terms.opened
        row = state.cut(state.encode(text))
        with state.encoders.one() as encoder:
            traced = encoder.trace_query(text, row[0]) if isinstance(encoder, Tracer) else None
            own = encoder.own_terms(text)
        found = explain_text(text, row, own, terms.vocabulary, traced, self._scores)
        said = self.retriever.notices(text)
        return replace(found, unknown=tuple(unknown_words(state, text)), notices=said), row

    def _document_side(
        self, terms: Retriever, why: Explanation, index: Index, progress: Progress
    ) -> DocumentSide | None:
        state = terms.opened
        if not isinstance(state.encoder, Tracer):
            return None
        try:
            kept = None if self._data is not None else state.text_of(index, why.doc_ordinal)
            text = self._texts(terms).find(why.doc_id, index.meta.passages, progress) if kept is None else kept.contents
        except LexigraftError as error:
            log.warning("the document's words are not shown, its text is not at hand: %s", error)
            return None
        with state.encoders.one() as encoder:
            assert isinstance(encoder, Tracer), "encoders of one index are of one kind"
            traced = encoder.trace_document(text, np.array([item.term_id for item in why.contributions], np.int32))
            held = encoder.own_terms(text)
        own = {item.term_id for item in why.contributions if item.origin is None or item.origin.own}
        if any(traced.sources[term].kind == "unknown" for term in own):
            message = "the text of %s is not the one that was indexed: not all of its terms come from it"
            if terms.place.run is None and state.index.query_encoder.get("kind") in BM25_KINDS:
                message += "; if its index is a grafted one, only the run that it was taken out of knows their origins"
            if getattr(encoder, "reads_expansions", False):
                message = "not all terms of %s come from its text: others are of its expansion, which is not looked up"
            log.warning(message, why.doc_id)
        return DocumentSide(held, traced)

    def _texts(self, terms: Retriever) -> DocumentTexts:
        place = terms.place
        if place.run is not None:
            return texts_of_run(place.run, place.view, self._data)
        if self._data is None:
            raise InputError(f"{how_to_keep_texts(place)}; or give the collection it is of with data=PATH")
        return texts_of_index(place.index, self._data)


def _require_text(text: str) -> None:
    if not text.strip():
        raise InputError("the text is empty; give at least one word")
