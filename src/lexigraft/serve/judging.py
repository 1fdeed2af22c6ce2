"""/judgements: two systems of a run judged by the user, as `lexigraft judge` does it (retrieve/judging.py)."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lexigraft.core.errors import ArtifactError, LexigraftError
from lexigraft.measure.sequential import DEPTH
from lexigraft.retrieve.answer import FoundDocument
from lexigraft.retrieve.finding import Asked, find
from lexigraft.retrieve.judging import Find, Judging, Question
from lexigraft.retrieve.open_judging import pair_of, shown_by
from lexigraft.search.overlap import TERMS as OF_TERMS
from lexigraft.serve.asking import Asking, Json, vectors_of
from lexigraft.serve.catalogue import Catalogue, System
from lexigraft.serve.refused import AGAIN, RefusedError, refused_by
from lexigraft.serve.term_system import TermSystem

LONGEST_TEXT = 20_000  # characters of a document that are sent to be read
READ_ONLY = "this server takes no judgements; open the run on its own machine: lexigraft open RUN"
NOT_WRITTEN = "the judgements cannot be written; the server's log says why"

log = logging.getLogger(__name__)


def judged_state(catalogue: Catalogue, read: Mapping[str, Any]) -> Json:
    """What is known by now, and the questions that have begun."""
    with _refusing(read):
        return _state(_open(catalogue, read))


def judged_question(catalogue: Catalogue, read: Mapping[str, Any]) -> Json:
    """The documents that are to be judged for a question, in an order that does not say what found them."""
    with _refusing(read):
        judging = _open(catalogue, read)
        question = judging.ask(read["question"])
        documents = [_document(question, one) for one in judging.shown(question)]
        return {"question": question.text, "documents": documents, "state": _state(judging)}


def judged_answer(catalogue: Catalogue, read: Mapping[str, Any]) -> Json:
    """Keep an answer, or that a question is left out."""
    with _refusing(read):
        judging = _open(catalogue, read)
        if read.get("skip"):
            judging.leave_out(read["question"])
        elif "doc_id" in read and "relevant" in read:
            judging.answer(read["question"], read["doc_id"], read["relevant"])
        else:
            raise RefusedError(422, "give doc_id and relevant, or skip")
        return _state(judging)


def _open(catalogue: Catalogue, read: Mapping[str, Any]) -> Judging:
    """Two systems of one run, of those that are served now."""
    named = [read[key] for key in ("system", "baseline") if key in read]
    source = catalogue.system((*named, catalogue.usual)[0]).offer.source
    of_run = {str(one.system.offer.system): one.system for one in catalogue.opened.values()
              if one.system.offer.source == source and source.run is not None}  # fmt: skip
    if not of_run:
        raise RefusedError(422, f"{source.name} is no run, of which two systems could be judged")
    wanted = [catalogue.system(read[key]).offer if key in read else None for key in ("system", "baseline")]
    if any(offer is not None and offer.source != source for offer in wanted):
        raise RefusedError(422, "system and baseline are of two runs; give two of one")
    try:
        names = pair_of(list(of_run), source.name, *(None if offer is None else offer.system for offer in wanted))
    except ArtifactError as error:  # it names no file
        raise RefusedError(422, str(error)) from error
    first, second = (of_run[name] for name in names)
    state = next((one.state for one in (first, second) if isinstance(one, TermSystem)), None)
    if state is None or not state.keeps_texts:
        said = f"{' and '.join(names)} have no texts to show: one must have terms, and the run texts (--texts yes)"
        raise RefusedError(422, said)
    found = state
    return Judging(source.path, names, (_finder(first), _finder(second)), lambda text, ids: shown_by(found, text, ids))


def _finder(system: System) -> Find:
    asked = Asked(DEPTH, (), 0.0, 0, OF_TERMS)
    if not isinstance(system, TermSystem):
        return lambda text: [hit.doc_id for hit in system.answer(text, DEPTH).hits]
    state, qk, _ = system.at(None, None)
    return lambda text: [
        place.doc_id for place in find(state, text, vectors_of(state, Asking(text), qk).searched, asked)
    ]


def _state(judging: Judging) -> Json:
    begun = [question.text for question in judging.asked if question.has_begun and question.left]
    return {**judging.state(), "begun": begun}


def _document(question: Question, document: FoundDocument) -> Json:
    """Without marks: words that match are one system's."""
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "snippet": "" if document.snippet is None else document.snippet.text,
        "text": (document.text or "")[:LONGEST_TEXT],
        "relevant": question.answers.get(document.doc_id),
    }


@contextmanager
def _refusing(read: Mapping[str, Any]) -> Iterator[None]:
    """What is wrong with a question is told; what cannot be written stands in the log."""
    try:
        yield
    except LexigraftError as error:
        raise refused_by(error, given=(read.get("question", ""), read.get("doc_id", ""))) from error
    except OSError as error:
        log.warning("refused: %s", error)
        raise RefusedError(503, NOT_WRITTEN, AGAIN) from error
