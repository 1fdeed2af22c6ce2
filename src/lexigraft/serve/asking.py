"""/search: a query becomes terms, terms find documents, and of each document it is said why."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from lexigraft.core.arrays import taken
from lexigraft.core.cut import DocumentCut, QueryCut, document_cut, query_cut
from lexigraft.core.errors import LexigraftError
from lexigraft.core.types import Vocabulary
from lexigraft.retrieve.answer import FoundDocument
from lexigraft.retrieve.finding import Asked
from lexigraft.retrieve.opened import Opened, Row
from lexigraft.retrieve.plain_document import PlainDocument
from lexigraft.retrieve.unknown_words import unknown_words
from lexigraft.search.overlap import TERMS as OF_TERMS
from lexigraft.serve.catalogue import System
from lexigraft.serve.peer_system import PeerSystem
from lexigraft.serve.refused import RefusedError, refused_by
from lexigraft.serve.term_system import TermSystem
from lexigraft.vectors.prune import prune_row

Json = dict[str, Any]


class Asking(NamedTuple):
    """A question, as a request has it; what is None is as the system was measured."""

    query: str
    k: int = 10
    qk: QueryCut | None = None
    dk: DocumentCut | None = None
    where: Sequence[str] = ()
    without: Sequence[str] = ()
    weights: Mapping[str, float] = {}

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> "Asking":
        """Of a request whose values were looked at."""
        given = {name: read[name] for name in cls._fields if name in read}
        try:
            if "qk" in given:
                given["qk"] = query_cut(given["qk"])
            if "dk" in given:
                given["dk"] = document_cut(given["dk"])
        except LexigraftError as error:
            raise refused_by(error) from error
        return cls(**given)


def search(system: System, asked: Asking) -> Json:
    """The answer to a question."""
    return _search_peer(system, asked) if isinstance(system, PeerSystem) else _search_terms(system, asked)


class Vectors(NamedTuple):
    """A query's whole vector, and what is searched of it."""

    whole: Row
    searched: Row


def vectors_of(state: Opened, asked: Asking, qk: QueryCut) -> Vectors:
    """The query is encoded and cut; then terms are switched off or weighed as was asked, and none moves up for them."""
    whole = state.encode(asked.query)
    terms, weights = prune_row(*whole, qk)
    return Vectors(whole, changed((terms, weights), asked.without, asked.weights, state.index.vocabulary))


def changed(row: Row, without: Sequence[str], weights: Mapping[str, float], vocabulary: Vocabulary) -> Row:
    """A vector without some terms, and with the weights that were given for others."""
    if not without and not weights:
        return row
    off = set(without)
    kept = dict(zip(*map(np.ndarray.tolist, row), strict=True))
    for name, weight in weights.items():
        if name not in vocabulary.id_of:
            raise RefusedError(422, f"weights has {name[:60]!r}, which is no term of this system")
        kept[vocabulary.id_of[name]] = weight
    left = sorted(term for term, weight in kept.items() if weight > 0 and vocabulary.terms[term] not in off)
    return np.array(left, np.int32), np.array([kept[term] for term in left], np.float32)


def _search_terms(system: TermSystem, asked: Asking) -> Json:
    begun = perf_counter()
    state, qk, dk = system.at(asked.qk, asked.dk)
    if asked.where and state.metadata is None:
        raise RefusedError(422, f"where is not allowed: the documents of {system.offer.name} have no metadata")
    vectors = vectors_of(state, asked, qk)
    encoded = perf_counter()
    try:
        limits = Asked(asked.k, tuple(asked.where), 0.0, 0, OF_TERMS)
        found, searched = system.search(state, asked.query, vectors.searched, limits)
    except LexigraftError as error:
        raise refused_by(error, given=(asked.query, *asked.where)) from error
    hits = [_hit(document) for document in found]
    postings = state_postings(system, state)
    touched = int(postings[vectors.searched[0]].sum())
    return {
        "system": system.offer.name,
        "query": asked.query,
        "qk": qk,
        "dk": dk,
        "terms": _terms(state, asked, vectors, postings),
        "unknown": unknown_words(state, asked.query),
        "notices": list(system.notices.of(asked.query)),
        "hits": hits,
        "postings": touched,
        "FLOPS": touched / max(1, state.index.n_documents),
        "ms": _times(begun, encoded, searched),
    }


def state_postings(system: TermSystem, state: Opened) -> Any:
    """How many postings each term has in the index that is searched."""
    if state is system.state:
        return system.postings
    return state.index.segments[0].index.lengths  # a pruned index of a run is one segment


def _terms(state: Opened, asked: Asking, vectors: Vectors, postings: Any) -> list[Json]:
    """Every term of the query, heaviest first, and whether it is searched with."""
    own = set(state.own_terms(asked.query).tolist())
    weights = dict(zip(*map(np.ndarray.tolist, vectors.whole), strict=True))
    searched = dict(zip(*map(np.ndarray.tolist, vectors.searched), strict=True))
    terms = np.array(list({**weights, **searched}), np.int64)
    named = zip(terms.tolist(), taken(state.index.vocabulary.terms, terms), postings[terms].tolist(), strict=True)
    found = [
        {
            "term": name, "weight": searched.get(term, weights.get(term)), "kept": term in searched, "own": term in own,
            "postings": int(held),
        }
        for term, name, held in named
    ]  # fmt: skip
    return sorted(found, key=lambda one: (-one["weight"], one["term"]))


def require_plain(system: PeerSystem, asked: Asking) -> None:
    """Raise where something is asked of a system without terms that goes by them."""
    given = {"qk": asked.qk, "dk": asked.dk, "where": asked.where, "without": asked.without, "weights": asked.weights}
    for name, value in given.items():
        if value:
            said = f"{system.offer.name} is a {system.offer.kind} system, which is searched as a whole, without {name}"
            raise RefusedError(422, said)


def _search_peer(system: PeerSystem, asked: Asking) -> Json:
    require_plain(system, asked)
    begun = perf_counter()
    answer = system.answer(asked.query, asked.k)
    searched = perf_counter()
    hits = [_hit(document) for document in answer.hits]
    return {
        "system": system.offer.name, "query": asked.query, "qk": 0, "dk": 0, "terms": [], "unknown": [],
        "notices": list(system.notices.of(asked.query)), "hits": hits,
        "postings": 0, "FLOPS": 0.0, "ms": _times(begun, begun, searched),
    }  # fmt: skip


def _hit(document: FoundDocument | PlainDocument) -> Json:
    snippet = document.snippet
    return {
        "doc_id": document.doc_id,
        "passage": getattr(document, "passage", "") or None,
        "title": document.title,
        "score": document.score,
        "snippet": None if snippet is None else {"text": snippet.text, "marks": [list(one) for one in snippet.spans]},
        "metadata": document.metadata or None,
        "matches": [
            {"term": match.term, "score": match.contribution, "origin": kind}
            for match, kind in zip(document.matches, document.kinds, strict=True)
        ],
    }


def _times(begun: float, encoded: float, searched: float) -> Json:
    """Milliseconds: to encode, to search, and altogether."""
    moments = {"encode": encoded - begun, "search": searched - encoded, "all": perf_counter() - begun}
    return {name: round(1000 * seconds, 4) for name, seconds in moments.items()}
