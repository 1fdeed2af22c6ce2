"""EMLM masking (T1): whole terms of the output vocabulary are masked and asked for as terms.

In each text exactly max(1, (15 n + 50) // 100) of its n term occurrences are chosen. One draw per occurrence, for all
its subwords: 80 % `[MASK]`, 10 % random subwords, 10 % unchanged. Every masked position is labelled with the term.
All in arrays: no loop over texts or tokens (pre-training study, B.2).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.vocab.aligned import AlignedTexts

NO_LABEL = -100


class MaskedTexts(NamedTuple):
    """`subwords` with masks in them, and `labels`: the term at masked positions, NO_LABEL elsewhere."""

    subwords: NDArray[np.int32]
    labels: NDArray[np.int32]


def n_masked(n_terms: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of n term occurrences are masked: 15 %, rounded, at least one; none of none."""
    return np.where(n_terms > 0, np.maximum(1, (15 * n_terms + 50) // 100), 0)


def mask_terms(texts: AlignedTexts, mask_id: int, ordinary: NDArray[np.int32], rng: np.random.Generator) -> MaskedTexts:
    """Mask a batch; `ordinary` are the subwords a random replacement is drawn from."""
    text_of = np.repeat(np.arange(len(texts)), np.diff(texts.indptr))
    is_term = texts.terms >= 0
    # An occurrence starts where a term's subword has another (text, word) than the position before it.
    changed = np.ones(len(text_of), bool)
    changed[1:] = (text_of[1:] != text_of[:-1]) | (texts.words[1:] != texts.words[:-1])
    starts = np.flatnonzero(is_term & changed)
    occurrence_of = np.cumsum(is_term & changed) - 1  # valid where is_term
    text_of_occurrence = text_of[starts]
    chosen = _choose(text_of_occurrence, len(texts), rng)
    draw = rng.random(len(starts))

    subwords, labels = texts.subwords.copy(), np.full(len(text_of), NO_LABEL, np.int32)
    positions = np.flatnonzero(is_term)
    positions = positions[chosen[occurrence_of[positions]]]
    labels[positions] = texts.terms[positions]
    fate = draw[occurrence_of[positions]]
    subwords[positions[fate < 0.8]] = mask_id
    randomised = positions[(fate >= 0.8) & (fate < 0.9)]
    subwords[randomised] = rng.choice(ordinary, len(randomised))
    return MaskedTexts(subwords, labels)


def _choose(text_of: NDArray[np.int64], n_texts: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each occurrence, whether it is chosen: the wanted number per text, uniformly without replacement."""
    per_text = np.bincount(text_of, minlength=n_texts)
    order = np.lexsort((rng.random(len(text_of)), text_of))  # shuffled within each text
    first = np.concatenate(([0], np.cumsum(per_text)))[text_of]
    rank = np.empty(len(text_of), np.int64)
    rank[order] = np.arange(len(text_of)) - first[order]
    chosen: NDArray[np.bool_] = rank < n_masked(per_text)[text_of]
    return chosen
