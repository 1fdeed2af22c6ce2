"""The texts of a batch through the encoder, in rectangles of like length, and where asked in chunks that are encoded
again for their gradient (gradient caching, F5): memory for a chunk, the result of the whole batch."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lexigraft.inference.reading import ReadTexts
from lexigraft.model.inputs import Inputs, inputs_of, sent, to_device
from lexigraft.train.batches import GPU_PADDING, MOST_PADDING, even_groups, length_buckets

Encode = Callable[..., Tensor]
CPU = torch.device("cpu")


class Bucket(NamedTuple):
    """Texts of like length, on the CPU, and their places in the batch."""

    places: NDArray[np.int64]
    inputs: Inputs


def bucketed(
    texts: ReadTexts, rows: NDArray[np.int64], pad_id: int, chunk: int = 0, for_gpu: bool = False
) -> list[Bucket]:
    """Rows of `texts` as rectangles, at most `chunk` texts each (0: any number); `for_gpu`: few, and of few shapes."""
    lengths = texts.aligned.indptr[rows + 1] - texts.aligned.indptr[rows]
    if for_gpu and not chunk:
        groups = even_groups(lengths)
    else:
        groups = length_buckets(lengths, chunk, GPU_PADDING if for_gpu else MOST_PADDING)
    return [Bucket(places, inputs_of(texts, rows[places], pad_id, CPU)) for places in groups]


def encode_buckets(encode: Encode, buckets: list[Bucket], device: torch.device, again: bool = False) -> Tensor:
    """Vectors [batch, vocabulary] in the batch's order, by an encoder or its `queries`. `again`: nothing but the
    vectors is kept for the backward pass, which encodes each bucket a second time."""
    parts = []
    for bucket in buckets:
        inputs = to_device(bucket.inputs, device)
        if again and torch.is_grad_enabled():
            parts.append(checkpoint(encode, *inputs, use_reentrant=False))
        else:
            parts.append(encode(*inputs))
    if len(parts) == 1:  # in order already, and large: not copied
        whole: Tensor = parts[0]
        return whole
    places = np.concatenate([bucket.places for bucket in buckets])
    return torch.cat(parts)[sent(torch.from_numpy(np.argsort(places)), device)]
