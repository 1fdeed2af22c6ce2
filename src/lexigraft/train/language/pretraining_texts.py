"""Which texts pre-training reads (T1, T4, T5): those with terms; of them so many, drawn once; some kept apart.

Nothing is copied: texts are rows of the aligned corpus. A text that validates never trains, nor does a copy of it.
"""

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import InputError
from lexigraft.core.settings import PretrainSettings
from lexigraft.train.language.subword_validation import has_split_term
from lexigraft.vocab.aligned import AlignedTexts

LARGEST_SHARE = 10  # at most one text in so many is kept apart

log = logging.getLogger(__name__)


class PretrainingTexts(NamedTuple):
    """Rows of `texts` to train on and rows to validate on; `facts` counts what became of all of them."""

    texts: AlignedTexts
    training: NDArray[np.int64]
    validation: NDArray[np.int64]
    facts: dict[str, int]


def choose_texts(texts: AlignedTexts, settings: PretrainSettings, seed: int) -> PretrainingTexts:
    """Drop texts without a term, keep `validation_texts` apart where there is something to validate, and draw `texts`
    distinct ones of the rest (0: the rest as it is, with its repetitions)."""
    with_terms = texts_with_terms(texts)
    if not len(with_terms):
        raise InputError("no text holds a term of the vocabulary; it was made from another corpus")
    n_dropped = len(texts) - len(with_terms)
    if n_dropped:
        log.info("pretrain: %d of %d texts hold no term and are left out", n_dropped, len(texts))
    training, validation = with_terms, np.zeros(0, np.int64)
    if settings.validate_every or settings.texts:
        rng = np.random.default_rng((seed, 2))
        number = number_texts(texts)
        distinct = with_terms[np.unique(number[with_terms], return_index=True)[1]]
        drawn = rng.permutation(np.sort(distinct))
        if settings.validate_every:
            validation = _kept_apart(texts, drawn, settings.validation_texts)
        training = with_terms[~np.isin(number[with_terms], number[validation])]
        if settings.texts:
            training = _draw(drawn[~np.isin(drawn, validation)], settings.texts)
    facts = {
        "texts": len(texts), "without_terms": n_dropped, "training_texts": len(training),
        "validation_texts": len(validation),
    }  # fmt: skip
    return PretrainingTexts(texts, training, validation, facts)


def texts_with_terms(texts: AlignedTexts) -> NDArray[np.int64]:
    """Rows with at least one term; the others cannot be masked."""
    has_term = np.add.reduceat((texts.terms >= 0).astype(np.int64), texts.indptr[:-1]) > 0
    return np.flatnonzero(has_term)


def number_texts(texts: AlignedTexts) -> NDArray[np.uint64]:
    """A number for each text, the same for texts of the same subwords: a 64-bit hash, the sum of its subwords mixed
    with their places. Two different texts among a billion share one with a probability of about 3 %."""
    lengths = np.diff(texts.indptr)
    place = np.arange(texts.indptr[-1]) - np.repeat(texts.indptr[:-1], lengths)
    mixed = _mix(texts.subwords.astype(np.uint64) + (place.astype(np.uint64) << np.uint64(32)))
    return np.add.reduceat(mixed, texts.indptr[:-1])


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the input changes half of the output's bits."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _kept_apart(texts: AlignedTexts, drawn: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """The first of `drawn` that hold a term of several subwords; too few texts keep a share of theirs apart."""
    split = drawn[has_split_term(texts)[drawn]]
    kept = np.sort(split[: min(wanted, len(drawn) // LARGEST_SHARE)])
    if not len(split):
        log.warning("pretrain: no text holds a term of several subwords: nothing to validate on")
    elif len(kept) < wanted:
        log.warning(
            "pretrain: %d texts are kept apart, not %d: of %d distinct ones, %d hold a term of several subwords, and "
            "at most one in %d is kept apart", len(kept), wanted, len(drawn), len(split), LARGEST_SHARE,
        )  # fmt: skip
    return kept


def _draw(drawn: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    if len(drawn) < wanted:
        log.warning("pretrain.texts: there are %d distinct texts with terms, not %d: all are read", len(drawn), wanted)
    return np.sort(drawn[:wanted])
