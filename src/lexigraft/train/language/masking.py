"""Masking for pre-training: terms of the output vocabulary asked for as terms (T1), or subwords as subwords (T2).

In each text exactly max(1, (15 n + 50) // 100) of its n term occurrences are chosen. One draw per occurrence, for all
its subwords: 80 % `[MASK]`, 10 % random subwords, 10 % unchanged. Every masked position is labelled with the term
(pre-training study, B.2). For plain masked language modelling an occurrence is one subword, and its own label.
All in arrays: no loop over texts or tokens.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.array_types import Float64s, Int32s, Int64s
from lexigraft.vocab.aligned import AlignedTexts

NO_LABEL = -100


class MaskedTexts(NamedTuple):
    """`subwords` with masks in them, and `labels`: the term at masked positions, NO_LABEL elsewhere."""

    subwords: Int32s
    labels: Int32s


def n_masked(n_terms: Int64s) -> Int64s:
    """How many of n term occurrences are masked: 15 %, rounded, at least one; none of none."""
    return np.where(n_terms > 0, np.maximum(1, (15 * n_terms + 50) // 100), 0)


class Occurrences(NamedTuple):
    """The term occurrences of a batch: where each `starts`, which text it is in, and for every position of a term the
    `number` of its occurrence (undefined elsewhere)."""

    starts: Int64s
    text_of: Int64s
    number: Int64s


def find_occurrences(texts: AlignedTexts) -> Occurrences:
    """An occurrence starts where a term's subword has another (text, word) than the position before it."""
    text_of = text_of_position(texts)
    changed = np.ones(len(text_of), bool)
    changed[1:] = (text_of[1:] != text_of[:-1]) | (texts.words[1:] != texts.words[:-1])
    is_start = (texts.terms >= 0) & changed
    starts = np.flatnonzero(is_start)
    return Occurrences(starts, text_of[starts], np.cumsum(is_start) - 1)


def text_of_position(texts: AlignedTexts) -> Int64s:
    return np.repeat(np.arange(len(texts)), np.diff(texts.indptr))


def mask_terms(texts: AlignedTexts, mask_id: int, ordinary: Int32s, rng: np.random.Generator) -> MaskedTexts:
    """Mask a batch; `ordinary` are the subwords a random replacement is drawn from."""
    occurrences = find_occurrences(texts)
    chosen = choose(occurrences.text_of, len(texts), rng)
    draw = rng.random(len(occurrences.starts))
    positions = np.flatnonzero(texts.terms >= 0)
    positions = positions[chosen[occurrences.number[positions]]]
    fate = draw[occurrences.number[positions]]
    return _masked(texts, positions, texts.terms[positions], fate, mask_id, ordinary, rng)


def mask_subwords(texts: AlignedTexts, mask_id: int, ordinary: Int32s, rng: np.random.Generator) -> MaskedTexts:
    """Mask a batch for plain masked language modelling: of each text's `ordinary` subwords (ascending), one draw each;
    special and unknown ones are never asked for."""
    positions = np.flatnonzero(is_among(texts.subwords, ordinary))
    positions = positions[choose(text_of_position(texts)[positions], len(texts), rng)]
    fate = rng.random(len(positions))
    return _masked(texts, positions, texts.subwords[positions], fate, mask_id, ordinary, rng)


def is_among(values: Int32s, ascending: Int32s) -> NDArray[np.bool_]:
    """Whether each value is one of `ascending`."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    place = np.searchsorted(ascending, values).clip(max=len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[place] == values
    return found


def _masked(
    texts: AlignedTexts,
    positions: Int64s,
    asked: Int32s,
    fate: Float64s,
    mask_id: int,
    ordinary: Int32s,
    rng: np.random.Generator,
) -> MaskedTexts:
    """`asked` as labels of `positions`, each of which its `fate` makes a mask, a random subword, or leaves."""
    subwords, labels = texts.subwords.copy(), np.full(len(texts.subwords), NO_LABEL, np.int32)
    labels[positions] = asked
    subwords[positions[fate < 0.8]] = mask_id
    randomised = positions[(fate >= 0.8) & (fate < 0.9)]
    subwords[randomised] = rng.choice(ordinary, len(randomised))
    return MaskedTexts(subwords, labels)


def choose(text_of: Int64s, n_texts: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For each occurrence, whether it is chosen: the wanted number per text, uniformly without replacement."""
    per_text = np.bincount(text_of, minlength=n_texts)
    order = np.lexsort((rng.random(len(text_of)), text_of))  # shuffled within each text
    first = np.concatenate(([0], np.cumsum(per_text)))[text_of]
    rank = np.empty(len(text_of), np.int64)
    rank[order] = np.arange(len(text_of)) - first[order]
    chosen: NDArray[np.bool_] = rank < n_masked(per_text)[text_of]
    return chosen
