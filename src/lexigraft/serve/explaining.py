"""/explain: what each term adds to a document's score, and which words of both texts it comes from."""

from typing import Any

import numpy as np

from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.types import Contribution, Explanation, TermSource, TracedText
from lexigraft.explain.documents import HEAVIEST, AddedWord, explain_document
from lexigraft.explain.lookup import impacts_of
from lexigraft.index.inverted import Index
from lexigraft.index.texts import KeptText
from lexigraft.retrieve.matched_words import WordMatcher
from lexigraft.retrieve.opened import Opened
from lexigraft.serve.asking import Asking, Json, Vectors, require_plain, vectors_of
from lexigraft.serve.catalogue import Catalogue
from lexigraft.serve.refused import RefusedError, refused_by
from lexigraft.serve.term_system import TermSystem
from lexigraft.vectors.tracing import Tracer

MOST_TERMS = 50  # that only one side has, and of words that are marked for a term
LONGEST_TEXT = 100_000  # characters of a document that are traced and shown


def explain_found(catalogue: Catalogue, name: str | None, asked: Asking, doc_id: str) -> Json:
    """Why a document has its score by a system: of a hybrid, what each of its systems adds, and what each term adds to
    the part that has terms; of a dense one, that there are none."""
    system = catalogue.system(name)
    if isinstance(system, TermSystem):
        return {**_explain_terms(system, asked, doc_id), "whole": None}
    require_plain(system, asked)
    if not asked.query.strip():
        raise RefusedError(422, "query is empty: give at least one word")
    try:
        whole, title = system.take_apart(asked.query, doc_id)
    except InputError as error:
        raise _no_document(system.offer.name, doc_id) from error
    except LexigraftError as error:
        raise refused_by(error) from error
    terms = catalogue.beside(system, next((part.system for part in whole.parts if part.has_terms), ""))
    found: Json = {
        "doc_id": doc_id, "title": title, "query_text": asked.query, "text": None, "contributions": [],
        "only_query": [], "only_document": [], "added_words": None,
    } if terms is None else _explain_terms(terms, asked, doc_id)  # fmt: skip
    parts = [{"system": part.system, "rank": part.rank, "score": part.score, "adds": part.adds} for part in whole.parts]
    told = {"how": whole.how, "said": whole.said, "parts": parts}
    return {**found, "system": system.offer.name, "score": whole.score, "whole": told}


def _no_document(name: str, doc_id: str) -> RefusedError:
    return RefusedError(404, f"there is no document {doc_id[:100]!r} in {name}")


def _explain_terms(system: TermSystem, asked: Asking, doc_id: str) -> Json:
    """Why a document has its score."""
    state, qk, _ = system.at(asked.qk, asked.dk)
    vectors = vectors_of(state, asked, qk)
    try:
        index = state.index.segment_of(doc_id).index
    except InputError as error:
        raise _no_document(system.offer.name, doc_id) from error
    try:
        why = state.explain(vectors.searched, doc_id)
        kept = state.text_of(index, why.doc_ordinal)
    except LexigraftError as error:
        raise refused_by(error) from error
    terms = np.array([item.term_id for item in why.contributions], np.int32)
    query, document = _traced(state, asked.query, kept, terms)
    names = state.index.vocabulary.terms
    shared = set(terms.tolist())
    return {
        "system": system.offer.name,
        "doc_id": doc_id,
        "title": _title(index, why, kept),
        "score": why.score,
        "query_text": asked.query if query is None else query.text,
        "text": document.text if document is not None else None if kept is None else kept.contents[:LONGEST_TEXT],
        "contributions": _contributions(state, why, query, document, set(state.own_terms(asked.query).tolist())),
        "only_query": [names[term] for term in _heaviest(vectors) if term not in shared][:MOST_TERMS],
        "only_document": _only_document(state, index, why.doc_ordinal, document, shared),
        "added_words": _added_words(state, index, why.doc_ordinal),
    }


def _title(index: Index, why: Explanation, kept: KeptText | None) -> str:
    return index.titles[why.doc_ordinal] if kept is None else kept.title


def _heaviest(vectors: Vectors) -> list[int]:
    terms, weights = vectors.searched
    return [int(term) for term in terms[np.argsort(-weights, kind="stable")]]


def _traced(
    state: Opened, query: str, kept: KeptText | None, terms: Any
) -> tuple[TracedText | None, TracedText | None]:
    """Both texts as they were read, with what produced each of the terms; None where that is not known."""
    with state.encoders.one() as encoder:
        if not isinstance(encoder, Tracer) or not len(terms):
            return None, None
        document = None if kept is None else encoder.trace_document(kept.contents[:LONGEST_TEXT], terms)
        return encoder.trace_query(query, terms), document


def _contributions(
    state: Opened, why: Explanation, query: TracedText | None, document: TracedText | None, own: set[int]
) -> list[Json]:
    places = [_own_places(state, traced, why) for traced in (query, document)]
    return [
        {
            "term": item.term,
            "query_weight": item.query_weight,
            "document_weight": item.document_weight,
            "score": item.contribution,
            "share": item.points / why.points,
            "own_query": item.term_id in own,
            "query_words": _words(item, query, places[0]),
            "document_words": _words(item, document, places[1]),
            "origin": None if item.origin is None else item.origin.as_json(),
        }
        for item in why.contributions
    ]


def _own_places(state: Opened, traced: TracedText | None, why: Explanation) -> dict[int, list[list[float]]]:
    """Where a text holds words that are terms themselves, each time."""
    places: dict[int, list[list[float]]] = {}
    if traced is None:
        return places
    matcher = WordMatcher([item.term_id for item in why.contributions], state.words)
    for word in matcher.find(traced.text):
        for term in word.terms:
            places.setdefault(term, []).append([word.start, word.end])
    return places


def _words(item: Contribution, traced: TracedText | None, own: dict[int, list[list[float]]]) -> list[list[float]]:
    """[start, end, weight] of the words that a term comes from: all that are the term, else the one that brought it."""
    if traced is None:
        return []
    if item.term_id in own:
        return [[*place, item.contribution] for place in own[item.term_id][:MOST_TERMS]]
    source: TermSource | None = traced.sources.get(item.term_id)
    if source is None or not 0 <= source.word < len(traced.spans):
        return []
    return [[*traced.spans[source.word], item.contribution]]


def _added_words(state: Opened, index: Index, row: int) -> dict[str, list[Json]] | None:
    """Of a grafted document, the heaviest words that its text does not hold, by where they come from."""
    if state.origins is None:
        return None
    found = explain_document(index, state.origins, row)

    def shown(words: list[AddedWord]) -> list[Json]:
        return [{"term": word.term, "weight": word.weight, **word.origin.as_json()} for word in words[:HEAVIEST]]

    return {"borrowed": shown(found.borrowed), "vector": shown(found.told)}


def _only_document(state: Opened, index: Index, row: int, document: TracedText | None, shared: set[int]) -> list[str]:
    """Terms that the document holds and the query does not, the heaviest first; none without its text."""
    if document is None:
        return []
    own = [int(term) for term in state.own_terms(document.text) if int(term) not in shared]
    found = np.array([term for term in own if term < index.n_terms], np.int32)  # a later segment may know more terms
    weights = impacts_of(index, found, np.array([row], np.int32))[:, 0].astype(np.int64)
    heaviest = [at for at in np.argsort(-weights, kind="stable") if weights[at] > 0]
    return [state.index.vocabulary.terms[int(found[at])] for at in heaviest[:MOST_TERMS]]
