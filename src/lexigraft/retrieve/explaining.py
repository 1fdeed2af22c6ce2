"""Texts and results explained in words: which terms a text becomes, what each adds to a score, and which word of either
side it comes from."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Explanation
from lexigraft.explain.contributions import explain
from lexigraft.explain.results import DocumentSide, ExplainedResult, explain_result
from lexigraft.explain.texts import ExplainedText, Scores, explain_text
from lexigraft.explain.wackiness_store import open_wackiness
from lexigraft.index.inverted import Index
from lexigraft.retrieve.document_text import DocumentTexts, texts_of_index, texts_of_run
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
    def name(self) -> str:
        """What is explained, for people."""
        return self.retriever.name

    def use_wackiness(self, folder: Path) -> None:
        """Show how wacky terms are, by the scores at `folder`, which must be of the same vocabulary."""
        found = open_wackiness(folder)
        found.require_vocabulary(self.name, self.retriever.vocabulary.fingerprint)
        self._scores = found.terms.scores

    def explain_text(self, text: str) -> ExplainedText:
        """The terms that a text becomes as a query; none where it has no word that the encoder knows."""
        return self._explain_query(text)[0]

    def explain_result(self, text: str, doc_id: str, progress: Progress = SILENT) -> ExplainedResult:
        """Why a document has its score for a query. Of one in passages, its best passage is explained. Where the
        document's text is not at hand, a warning says so and the query's side alone is traced."""
        query, row = self._explain_query(text)
        index = self.retriever.opened.index.segment_of(doc_id).index
        why = explain(index, *row, doc_id)
        document = self._document_side(why, index, progress) if why.contributions else None
        return explain_result(why, query, index.titles[why.doc_ordinal], document)

    def _explain_query(self, text: str) -> tuple[ExplainedText, Row]:
        """A query as it is read, and its vector, encoded once."""
        if not text.strip():
            raise InputError("the text is empty; give at least one word")
        state = self.retriever.opened
        row = state.cut(state.encode(text))
        with state.encoders.one() as encoder:
            traced = encoder.trace_query(text, row[0]) if isinstance(encoder, Tracer) else None
            own = encoder.own_terms(text)
        found = explain_text(text, row, own, self.retriever.vocabulary, traced, self._scores)
        return replace(found, unknown=tuple(unknown_words(state, text))), row

    def _document_side(self, why: Explanation, index: Index, progress: Progress) -> DocumentSide | None:
        state = self.retriever.opened
        if not isinstance(state.encoder, Tracer):
            return None
        try:
            kept = None if self._data is not None else state.text_of(index, why.doc_ordinal)
            text = self._texts().find(why.doc_id, index.meta.passages, progress) if kept is None else kept.contents
        except LexigraftError as error:
            log.warning("the document's words are not shown, its text is not at hand: %s", error)
            return None
        with state.encoders.one() as encoder:
            assert isinstance(encoder, Tracer), "encoders of one index are of one kind"
            traced = encoder.trace_document(text, np.array([item.term_id for item in why.contributions], np.int32))
            own = encoder.own_terms(text)
        if any(source.kind == "unknown" for source in traced.sources.values()):
            message = "the text of %s is not the one that was indexed: not all of its terms come from it"
            if getattr(encoder, "reads_expansions", False):
                message = "not all terms of %s come from its text: others are of its expansion, which is not looked up"
            log.warning(message, why.doc_id)
        return DocumentSide(own, traced)

    def _texts(self) -> DocumentTexts:
        place = self.retriever.place
        if place.run is not None:
            return texts_of_run(place.run, place.view, self._data)
        if self._data is None:
            raise InputError(f"{how_to_keep_texts(place)}; or give the collection it is of with --data")
        return texts_of_index(place.index, self._data)
