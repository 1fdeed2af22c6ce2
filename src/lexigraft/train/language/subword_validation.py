"""Two looks at what pre-training knows of terms of several subwords (T5; pre-training study, 3.2).

In texts that never train, some terms of two or more subwords are chosen, once and for all. The set *first* masks only
the first subword of each, the set *later* only the second and later ones: the same texts, the same terms. Every masked
position asks for the term. A validation mask is always `[MASK]`: random and unchanged subwords serve training alone.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.inputs import padded
from lexigraft.model.precision import fast_precision
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy
from lexigraft.train.language.masking import NO_LABEL, MaskedTexts, choose, find_occurrences
from lexigraft.vocab.aligned import AlignedTexts, take

FIRST, LATER = "first", "later"
TEXTS_AT_ONCE = 128


class SubwordSets(NamedTuple):
    """`texts` as they are, and masked in two ways."""

    texts: AlignedTexts
    first: MaskedTexts
    later: MaskedTexts


def has_split_term(texts: AlignedTexts) -> NDArray[np.bool_]:
    """For each text, whether it holds a term of several subwords."""
    occurrences = find_occurrences(texts)
    split = occurrences.text_of[_sizes(texts, occurrences.number, len(occurrences.starts)) > 1]
    found: NDArray[np.bool_] = np.bincount(split, minlength=len(texts)) > 0
    return found


def mask_by_subword(texts: AlignedTexts, mask_id: int, seed: int) -> SubwordSets:
    """Of each text's terms of several subwords, 15 % (as in training, at least one) are chosen by `seed`."""
    occurrences = find_occurrences(texts)
    is_split = _sizes(texts, occurrences.number, len(occurrences.starts)) > 1
    chosen = np.zeros(len(occurrences.starts), bool)
    chosen[is_split] = choose(occurrences.text_of[is_split], len(texts), np.random.default_rng((seed, 3)))
    positions = np.flatnonzero(texts.terms >= 0)
    positions = positions[chosen[occurrences.number[positions]]]
    is_first = occurrences.starts[occurrences.number[positions]] == positions

    def mask_only(some: NDArray[np.int64]) -> MaskedTexts:
        subwords, labels = texts.subwords.copy(), np.full(len(texts.subwords), NO_LABEL, np.int32)
        subwords[some], labels[some] = mask_id, texts.terms[some]
        return MaskedTexts(subwords, labels)

    return SubwordSets(texts, mask_only(positions[is_first]), mask_only(positions[~is_first]))


def measure(encoder: SparseEncoder, sets: SubwordSets) -> dict[str, float]:
    """`first_loss`, `first_accuracy`, `later_loss` and `later_accuracy`: means over the masked positions of a set."""
    was_training = encoder.training
    encoder.eval()
    found: dict[str, float] = {}
    for name, masked in ((FIRST, sets.first), (LATER, sets.later)):
        loss, accuracy = _measure_set(encoder, sets.texts, masked)
        found |= {f"{name}_loss": loss, f"{name}_accuracy": accuracy}
    encoder.train(was_training)
    return found


@torch.no_grad()
def _measure_set(encoder: SparseEncoder, texts: AlignedTexts, masked: MaskedTexts) -> tuple[float, float]:
    device, pad_id = next(encoder.parameters()).device, encoder.tokenizer.special.pad
    total, n_rows = torch.zeros(2, dtype=torch.float64, device=device), 0
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        rows = np.arange(start, min(start + TEXTS_AT_ONCE, len(texts)))
        some, span = take(texts, rows), slice(texts.indptr[rows[0]], texts.indptr[rows[-1] + 1])
        subwords, mask = padded(some, masked.subwords[span], pad_id, device)
        labels, _ = padded(some, masked.labels[span], NO_LABEL, device)
        with fast_precision(device):
            hidden = encoder.body(subwords, mask)[labels != NO_LABEL]
            asked = labels[labels != NO_LABEL]
            named = linear_cross_entropy(hidden, asked, encoder.head.weight, encoder.head.bias)
        total += len(hidden) * torch.stack([named.loss, named.accuracy]).double()
        n_rows += len(hidden)
    loss, accuracy = (total / n_rows).tolist()
    return loss, accuracy


def _sizes(texts: AlignedTexts, number: NDArray[np.int64], n_occurrences: int) -> NDArray[np.int64]:
    """How many subwords each occurrence has."""
    return np.bincount(number[texts.terms >= 0], minlength=n_occurrences)
