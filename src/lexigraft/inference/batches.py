"""Texts of one length together: a batch is then a rectangle without padding, and nothing is multiplied for nothing."""

from typing import NamedTuple

import numpy as np

from lexigraft.core.array_types import Int64s
from lexigraft.inference.reading import ReadTexts

TOKENS_AT_ONCE, TEXTS_AT_ONCE = 1024, 64  # the second, because each has a row as long as the vocabulary


class Batch(NamedTuple):
    """Some texts of one length. `rows`: their places among all; `subwords` [texts, length]; `places` [texts, most]:
    where the tokens of each that are pooled stand, the first of them repeated where a text has fewer than another;
    `counts` [texts]: how many there are."""

    rows: Int64s
    subwords: Int64s
    places: Int64s
    counts: Int64s


def batches_of(
    read: ReadTexts, is_pooled: np.typing.NDArray[np.bool_], tokens_at_once: int = TOKENS_AT_ONCE
) -> list[Batch]:
    """All texts with a pooled token, in batches of at most so many tokens and TEXTS_AT_ONCE texts; `is_pooled` [tokens]
    says which are."""
    indptr, lengths = read.aligned.indptr, np.diff(read.aligned.indptr)
    upto = np.concatenate((np.zeros(1, np.int64), np.cumsum(is_pooled, dtype=np.int64)))
    counts = upto[indptr[1:]] - upto[indptr[:-1]]
    order = np.lexsort((counts, lengths))  # of texts of one length, those with as many pooled tokens side by side
    order = order[counts[order] > 0]
    found: list[Batch] = []
    start = 0
    while start < len(order):
        length = int(lengths[order[start]])
        end = min(
            start + max(1, min(TEXTS_AT_ONCE, tokens_at_once // length)),
            int(np.searchsorted(lengths[order], length, "right")),
        )
        rows = order[start:end]
        at = indptr[rows][:, None] + np.arange(length)
        found.append(Batch(rows, read.aligned.subwords[at].astype(np.int64), *_places(is_pooled[at])))
        start = end
    return found


def _places(is_pooled: np.typing.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
    counts = is_pooled.sum(axis=1)
    places = np.argsort(~is_pooled, axis=1, kind="stable")[:, : int(counts.max())]
    is_there = np.arange(places.shape[1]) < counts[:, None]
    return np.where(is_there, places, places[:, :1]), counts
