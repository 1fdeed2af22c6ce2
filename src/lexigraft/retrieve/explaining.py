"""Text and documents explained by an index and its encoder: opened once, asked often."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Explanation
from lexigraft.explain.results import DocumentSide, ExplainedResult, explain_result
from lexigraft.explain.texts import ExplainedText, Scores, explain_text
from lexigraft.explain.wackiness_store import open_wackiness
from lexigraft.retrieve.document_text import DocumentTexts, texts_of_index, texts_of_run
from lexigraft.retrieve.text_search import TextSearch
from lexigraft.stages.layout import RunFolder
from lexigraft.vectors.tracing import Tracer

log = logging.getLogger(__name__)


class Explainer(TextSearch):
    """An open index, plain or live, with its encoder and, where they are to be had, the texts of its documents.

    `scores` are wackiness scores, one for each term of the index's vocabulary, NaN where a term has none.
    """

    def __init__(
        self, name: str, index_path: Path, texts: Callable[[], DocumentTexts], scores: Scores | None = None
    ) -> None:
        super().__init__(index_path)
        self.name = name
        self._texts, self._scores = texts, scores

    def use_wackiness(self, folder: Path) -> None:
        """Show how wacky terms are, by the scores at `folder`, which must be of the same vocabulary."""
        found = open_wackiness(folder)
        found.require_vocabulary(self.name, self.index.vocabulary.fingerprint)
        self._scores = found.terms.scores

    def explain_text(self, text: str) -> ExplainedText:
        """The terms that a text becomes as a query; none where it has no word that the encoder knows."""
        if not text.strip():
            raise InputError("the text is empty; give at least one word")
        row = self._encoder.encode(text)
        traced = self._encoder.trace_query(text, row[0]) if isinstance(self._encoder, Tracer) else None
        own = self._encoder.own_terms(text)
        return explain_text(text, row, own, self.index.vocabulary, traced, self._scores)

    def explain_result(self, text: str, doc_id: str, progress: Progress = SILENT) -> ExplainedResult:
        """Why a document has its score for a query. Of one in passages, its best passage is explained. Where the
        document's text is not at hand, a warning says so and the query's side alone is traced."""
        query = self.explain_text(text)
        why = self.explain(text, doc_id)
        index = self.index.segment_of(doc_id).index
        document = self._document_side(why, index.meta.passages, progress) if why.contributions else None
        return explain_result(why, query, index.titles[why.doc_ordinal], document)

    def _document_side(self, why: Explanation, passages: bool, progress: Progress) -> DocumentSide | None:
        encoder = self._encoder
        if not isinstance(encoder, Tracer):
            return None
        try:
            text = self._texts().find(why.doc_id, passages, progress)
        except LexigraftError as error:
            log.warning("the document's words are not shown, its text is not at hand: %s", error)
            return None
        traced = encoder.trace_document(text, np.array([item.term_id for item in why.contributions], np.int32))
        if any(source.kind == "unknown" for source in traced.sources.values()):
            message = "the text of %s is not the one that was indexed: not all of its terms come from it"
            if getattr(encoder, "reads_expansions", False):
                message = "not all terms of %s come from its text: others are of its expansion, which is not looked up"
            log.warning(message, why.doc_id)
        return DocumentSide(encoder.own_terms(text), traced)


def explainer_of_run(
    run: RunFolder, system: str | None, data: str | None = None, scores: Scores | None = None
) -> Explainer:
    """For a system of a run; its documents' texts are those of `data` or, without it, of the run's collection."""
    view, name = run.searchable(system)
    return Explainer(f"{name} of {run.root}", run.index(view, name, 0), lambda: texts_of_run(run, view, data), scores)


def explainer_of_index(index: Path, data: str | None = None, scores: Scores | None = None) -> Explainer:
    """For an index of its own, whose documents' texts are those of `data`."""

    def texts() -> DocumentTexts:
        if data is None:
            raise InputError("an index keeps no texts; give the collection it is of with --data")
        return texts_of_index(index, data)

    return Explainer(str(index), index, texts, scores)
