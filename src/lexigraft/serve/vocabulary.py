"""/vocabulary: the terms of a system, how many documents hold each, and what is said of one."""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.explain.lookup import impacts_of
from lexigraft.index.live.reader import Segment
from lexigraft.serve.asking import Json
from lexigraft.serve.refused import RefusedError
from lexigraft.serve.requests import PAGE
from lexigraft.serve.term_system import TermSystem
from lexigraft.serve.wackiness import GivenWackiness

DOCUMENTS = 10  # that hold most of a term
NEIGHBOURS = 20
MET_IN = 32  # documents, those that hold most of a term, in which its neighbours are looked for
TERMS_AT_ONCE = 1 << 14  # of which impacts are looked up: two mebibytes


def list_terms(system: TermSystem, wackiness: GivenWackiness, read: Mapping[str, Any]) -> Json:
    """A page of terms."""
    names, ids = system.terms_in_order
    begins = read.get("starts", "")
    first = bisect_left(names, begins)
    last = bisect_left(names, begins + "\U0010ffff") if begins else len(names)
    found, scores = ids[first:last], wackiness.scores(system)
    found = _sorted(found, read.get("sort", "postings"), read.get("descending"), system, scores)
    size = read.get("size", PAGE)
    pages = max(1, -(-len(found) // size))
    page = read.get("page", 1)
    shown = found[(page - 1) * size : page * size].tolist()
    terms = system.vocabulary.terms
    return {
        "n_terms": len(found),
        "terms": [
            {"term": terms[at], "id": at, "postings": int(system.postings[at]), "wackiness": _score(scores, at)}
            for at in shown
        ],
        "page": page,
        "pages": pages,
        "scored": scores is not None,
    }


def _sorted(
    found: NDArray[np.int32], by: str, descending: bool | None, system: TermSystem, scores: NDArray[np.float32] | None
) -> NDArray[np.int32]:
    """Terms that are in order of their characters, by what was asked for; equals stay in that order. Numbers begin with
    the largest where nobody says otherwise, and terms without a score come last."""
    if by == "term" or (by == "wackiness" and scores is None):
        return found[::-1] if descending else found
    values = system.postings[found].astype(np.float64)
    if by == "wackiness" and scores is not None:
        values = scores[found].astype(np.float64)
    largest_first = descending is None or descending
    return found[np.argsort(-values if largest_first else values, kind="stable")]  # what is no number comes last


def _score(scores: NDArray[np.float32] | None, term: int) -> float | None:
    return None if scores is None or np.isnan(scores[term]) else float(scores[term])


def show_term(system: TermSystem, wackiness: GivenWackiness, name: str) -> Json:
    """What is known of one term."""
    names, ids = system.terms_in_order
    at = bisect_left(names, name)
    if at == len(names) or names[at] != name:
        raise RefusedError(404, f"{name[:60]!r} is no term of {system.offer.name}")
    term = int(ids[at])
    return {
        "term": name,
        "postings": int(system.postings[term]),
        "wackiness": _score(wackiness.scores(system), term),
        "neighbours": _neighbours(system, term),
        "documents": _documents(system, term),
    }


def _heaviest(segment: Segment, term: int, most: int) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """(rows, impacts) of the documents of a segment that hold most of a term."""
    index = segment.index
    if term >= index.n_terms or not index.lengths[term]:
        return np.zeros(0, np.int32), np.zeros(0, np.uint32)
    rows, impacts = index.postings(term)
    if segment.allowed is not None:
        living = segment.allowed[rows] != 0
        rows, impacts = rows[living], impacts[living]
    order = np.argsort(-impacts.astype(np.int64), kind="stable")[:most]
    return rows[order], impacts[order]


def _documents(system: TermSystem, term: int) -> list[Json]:
    found = []
    for segment in system.state.index.segments:
        index = segment.index
        rows, impacts = _heaviest(segment, term, DOCUMENTS)
        ids = index.names(rows)
        for row, doc_id, impact in zip(rows.tolist(), ids, impacts.tolist(), strict=True):
            found.append({"doc_id": doc_id, "title": index.titles[row], "weight": impact * index.meta.scale})
    return sorted(found, key=lambda one: (-one["weight"], one["doc_id"]))[:DOCUMENTS]


def _neighbours(system: TermSystem, term: int) -> list[Json]:
    """The terms that weigh most in the documents that hold most of this one, rare terms more than frequent ones. Only
    one range of the largest segment is looked at, so that it takes the same time in any index."""
    segment = max(system.state.index.segments, key=lambda one: int(one.index.lengths[term : term + 1].sum()))
    index = segment.index
    rows, impacts = _heaviest(segment, term, MET_IN)
    if not len(rows):
        return []
    same_range = rows // index.meta.range_size == rows[0] // index.meta.range_size
    rows, impacts = rows[same_range], impacts[same_range]
    scores = np.zeros(index.n_terms)
    for start in range(0, index.n_terms, TERMS_AT_ONCE):
        terms = np.arange(start, min(index.n_terms, start + TERMS_AT_ONCE), dtype=np.int32)
        scores[terms] = impacts_of(index, terms, rows) @ impacts.astype(np.float64)
    rarity = np.log1p(index.n_documents / np.maximum(1, index.lengths))
    scores *= rarity * index.meta.scale**2 / len(rows)
    scores[term] = 0.0
    best = np.argsort(-scores, kind="stable")[:NEIGHBOURS]
    names = system.vocabulary.terms
    return [{"term": names[int(at)], "score": float(scores[at])} for at in best if scores[at] > 0]
