"""What an engine must answer to exported queries: Lexigraft's own ranking, up to the order of equal scores."""

from collections.abc import Iterable

import numpy as np

from lexigraft.core.types import document_of
from lexigraft.search.searcher import Searcher

Found = list[tuple[str, float]]


def right_answers(source, queries, k=100) -> dict[str, Found]:
    """(id, score) of the best by the id of the query; scores are the whole sums of products of impacts."""
    searcher, scale = Searcher(source.index), source.index.meta.scale
    answers = {}
    for query in queries:
        term_ids, weights = source.query(query.text)
        if len(term_ids):
            ranking = searcher.search(term_ids, weights.astype(np.float32), k)
            answers[query.query_id] = [
                (doc_id, round(score / scale)) for doc_id, score in zip(ranking.doc_ids, ranking.scores, strict=True)
            ]
    return answers


def require_same(found: Iterable[tuple[str, float]], right: Found, k: int = 100, passages_of: bool = False) -> None:
    """The same scores, but for one factor, and the same documents of each score but the last, where ties are cut."""
    found = [(document_of(name) if passages_of else name, score) for name, score in found]
    assert len(found) == len(right), (len(found), len(right))
    if not right:
        return
    factor = right[0][1] / found[0][1]
    assert factor in (1, 2, 4), factor
    scores = [score * factor for _, score in found]
    assert scores == [score for _, score in right]
    last = right[-1][1] if len(right) == k else 0
    assert {name for (name, _), score in zip(found, scores, strict=True) if score > last} == {
        name for name, score in right if score > last
    }
    assert len({name for name, _ in found}) == len(found)
