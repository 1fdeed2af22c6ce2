"""Explains a score (E2): what each shared term adds. Contributions sum to the engine's score, exactly in integers."""

from collections.abc import Sequence

import numpy as np

from lexigraft.core.array_types import Float32s, Int32s, Uint32s
from lexigraft.core.arrays import taken
from lexigraft.core.types import Contribution, Explanation
from lexigraft.explain.lookup import impacts_of
from lexigraft.index.inverted import Index
from lexigraft.vectors.quantize import quantize_query

Named = tuple[int, str, int]  # a term of the query: its number, its name, and its weight as an integer


def explain(index: Index, term_ids: Int32s, weights: Float32s, doc_id: str, query_id: str = "") -> Explanation:
    """The terms that the query vector shares with a document, heaviest contribution first; ties by term. Of a document
    in passages, its best one is explained, the first of equals."""
    explained = explain_rows(index, term_ids, weights, index.ordinals(doc_id), query_id)
    return max(explained, key=lambda item: item.score)


def explain_rows(
    index: Index, term_ids: Int32s, weights: Float32s, ordinals: Sequence[int], query_id: str = ""
) -> list[Explanation]:
    """What each term of the query vector adds to the score of each of these rows of the index."""
    integers, query_scale = quantize_query(np.asarray(weights, np.float32), index.meta.bits)
    known = (term_ids < index.n_terms) & (integers > 0)  # a segment of a live index may lack later terms
    terms, integers = term_ids[known], integers[known]
    impacts = impacts_of(index, terms, np.asarray(ordinals, np.int32))
    named = list(zip(terms.tolist(), taken(index.vocabulary.terms, terms), integers.tolist(), strict=True))
    return [
        _explanation(index, named, impacts[:, column], query_scale, ordinal, query_id)
        for column, ordinal in enumerate(ordinals)
    ]


def _explanation(
    index: Index,
    named: Sequence[tuple[int, str, int]],
    impacts: Uint32s,
    query_scale: float,
    ordinal: int,
    query_id: str,
) -> Explanation:
    scale = index.meta.scale
    unit = query_scale * scale
    found = [
        Contribution(
            name,
            integer * query_scale,
            impact * scale,
            integer * impact * unit,
            term_id,
            integer * impact,
        )
        for (term_id, name, integer), impact in zip(named, impacts.tolist(), strict=True)
        if impact
    ]
    found.sort(key=lambda item: (-item.contribution, item.term))
    points = sum(item.points for item in found)
    return Explanation(query_id, index.doc_ids[ordinal], points * unit, tuple(found), points, unit, ordinal)
