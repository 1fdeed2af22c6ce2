"""The masked texts of a step as rectangles of like length, this process's share of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lexigraft.core.processes import n_processes, process_rank
from lexigraft.model.inputs import padded, sent
from lexigraft.train.batches import even_groups, length_buckets
from lexigraft.train.distributed import total
from lexigraft.train.language.linear_cross_entropy import NamedRows, linear_cross_entropy
from lexigraft.train.language.masking import NO_LABEL, MaskedTexts
from lexigraft.vocab.aligned import AlignedTexts, take

CPU = torch.device("cpu")


class MaskedBucket(NamedTuple):
    """[texts, length] twice, then the places that are asked for, in the flattened rectangle, and their labels."""

    subwords: Tensor
    mask: Tensor
    places: Tensor
    labels: Tensor


class MaskedBatch(NamedTuple):
    """The buckets of this process; `n_labels` counts those of all processes."""

    buckets: list[MaskedBucket]
    n_labels: int


def masked_batch(texts: AlignedTexts, masked: MaskedTexts, pad_id: int, for_gpu: bool = False) -> MaskedBatch:
    """A batch as rectangles on the CPU. It is masked before it is shared, so its masks do not depend on the sharing."""
    both = AlignedTexts(texts.indptr, masked.subwords, masked.labels, texts.words)
    share = np.array_split(np.arange(len(texts)), n_processes())[process_rank()]
    groups = (even_groups if for_gpu else length_buckets)(np.diff(texts.indptr)[share]) if len(share) else []
    buckets = [_bucket(both, share[group], pad_id) for group in groups]
    return MaskedBatch(buckets, int((masked.labels != NO_LABEL).sum()))


def _bucket(both: AlignedTexts, rows: NDArray[np.int64], pad_id: int) -> MaskedBucket:
    some = take(both, rows)
    subwords, mask = padded(some, some.subwords, pad_id, CPU)
    labels = padded(some, some.terms, NO_LABEL, CPU)[0].flatten()
    places = (labels != NO_LABEL).nonzero().squeeze(1)
    return MaskedBucket(subwords, mask, places, labels[places])


# Hidden states and labels of masked positions, the head's rows and biases, to loss and accuracy.
Naming = Callable[[Tensor, Tensor, Tensor, Tensor], NamedRows]


def name_masked(
    body: nn.Module, batch: MaskedBatch, weight: Tensor, bias: Tensor, naming: Naming = linear_cross_entropy
) -> NamedRows:
    """Loss and accuracy of the whole batch; the gradient is that of this process's share of it."""
    device, found = weight.device, []
    for bucket in batch.buckets:
        subwords, mask, places, labels = (sent(part, device) for part in bucket)
        hidden = body(subwords, mask)
        found.append((hidden.reshape(-1, hidden.shape[-1])[places], labels))
    if not found:  # more processes than texts
        nothing = (weight.sum() + bias.sum()) * 0
        return NamedRows(nothing + total(nothing), total(nothing))
    hidden, labels = (torch.cat(parts) for parts in zip(*found, strict=True))
    named, share = naming(hidden, labels, weight, bias), len(labels) / max(1, batch.n_labels)
    own = named.loss * share
    return NamedRows(own + (total(own) - own.detach()), total(named.accuracy * share))
