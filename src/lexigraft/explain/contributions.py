"""Explains a score (E2): what each shared term adds. Contributions sum to the engine's score, exactly in integers."""

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.types import Contribution, Explanation
from lexigraft.index.inverted import Index
from lexigraft.vectors.quantize import quantize_query


def explain(
    index: Index, term_ids: NDArray[np.int32], weights: NDArray[np.float32], doc_id: str, query_id: str = ""
) -> Explanation:
    """The terms that the query vector shares with a document, heaviest contribution first; ties by term. Of a document
    in passages, its best one is explained, the first of equals."""
    rows = index.ordinals(doc_id)
    explained = [_explain_row(index, term_ids, weights, row, query_id) for row in rows]
    return max(explained, key=lambda item: item.score)


def _explain_row(
    index: Index, term_ids: NDArray[np.int32], weights: NDArray[np.float32], ordinal: int, query_id: str
) -> Explanation:
    integers, query_scale = quantize_query(np.asarray(weights, np.float32), index.meta.bits)
    scale = index.meta.scale
    found = []
    total = 0
    for term_id, integer in zip(term_ids.tolist(), integers.tolist(), strict=True):
        impact = _impact(index, term_id, ordinal)
        if impact and integer:
            total += integer * impact
            weight, document_weight = integer * query_scale, impact * scale
            found.append(
                Contribution(
                    index.vocabulary.terms[term_id],
                    weight,
                    document_weight,
                    integer * impact * (query_scale * scale),
                    term_id,
                    integer * impact,
                )
            )
    found.sort(key=lambda item: (-item.contribution, item.term))
    unit = query_scale * scale
    return Explanation(query_id, index.doc_ids[ordinal], total * unit, tuple(found), total, unit, ordinal)


def _impact(index: Index, term_id: int, ordinal: int) -> int:
    ordinals, impacts = index.postings(term_id)
    at = int(np.searchsorted(ordinals, ordinal))
    return int(impacts[at]) if at < len(ordinals) and ordinals[at] == ordinal else 0
