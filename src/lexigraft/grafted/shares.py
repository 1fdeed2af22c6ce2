"""How much of what neighbours lend and of what vectors tell a document gets; `grafted.rows` has the formula."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float32s, Float64s, Int32s

SHARPNESS = 10.0
LIFTED = 0.35
TITLE_WORDS = 8  # distinct ones: the own words of a document of fewer are not lifted
FEWEST_WORDS = 12  # distinct ones of a document, in the mean: in a collection of fewer, no own words are


class Shares(NamedTuple):
    """How much of what neighbours lend, and of what vectors tell, is added to a document; and how much of both to words
    that it has itself."""

    borrowed: float
    told: float
    lifted: float = LIFTED


def own_lifts(indptr: NDArray[np.int64], lifted: float) -> Float32s:
    """How much the own words of each document are lifted, whose distinct words end at `indptr`: not at all where those
    are as few as a title's."""
    return np.where(np.diff(indptr) < TITLE_WORDS, 0.0, lifted).astype(np.float32)


def usual_lift(indptr: NDArray[np.int64]) -> float:
    """How much own words are lifted in a collection of documents whose distinct words end at `indptr`."""
    return LIFTED if indptr[-1] >= FEWEST_WORDS * (len(indptr) - 1) else 0.0


def neighbour_shares(cosines: Float32s, rows: Int32s) -> Float64s:
    """[documents, k]: how much of its words each neighbour lends, nearest first; they add up to 1 for every document
    that has neighbours. Where there is none, its row is -1 and its share 0."""
    there, wide = rows >= 0, cosines.astype(np.float64)
    shares: Float64s = np.exp(SHARPNESS * (wide - wide[:, :1]), where=there, out=np.zeros(rows.shape))
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
    return shares
