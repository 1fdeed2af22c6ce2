"""Rankings as programs take them that sort by score again."""

from collections.abc import Iterable, Iterator

import numpy as np

Ranked = Iterable[tuple[str, float]]  # ids with scores, the best first


def among(ranked: Ranked, wanted: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Those that are wanted, then the wanted ones that were not found, by their ids."""
    left = set(wanted)
    for doc_id, score in ranked:
        if doc_id in left:
            left.discard(doc_id)
            yield doc_id, score
    yield from ((doc_id, 0.0) for doc_id in sorted(left))


def falling(ranked: Ranked) -> dict[str, float]:
    """Scores that fall strictly, in the order of a ranking: trec_eval sorts again, in single precision, and would put
    equal scores in the order of falling ids."""
    scores: dict[str, float] = {}
    last = np.float32(np.inf)
    for doc_id, score in ranked:
        last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
        scores[doc_id] = float(last)
    return scores
