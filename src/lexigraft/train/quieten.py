"""Biases before fine-tuning: a new head gives nearly every term some weight, and every weight costs a step time.

One amount is taken from all biases, so that documents begin with as many terms as are asked for: their own words and
what the head names most strongly. `level` may have set them term by term before.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from lexigraft.inference.reading import ReadTexts
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.head import SparseHead
from lexigraft.train.ranking.buckets import bucketed, encode_buckets

SAMPLE = 256  # documents, evenly spaced


@torch.inference_mode()
def quieten(encoder: SparseEncoder, documents: ReadTexts, terms: int) -> float:
    """Lower all biases by one amount, which is returned, so that the sampled documents have `terms` terms on average;
    0 where they have no more as it is."""
    if not isinstance(encoder.head, SparseHead) or encoder.meta.pooling == "sum":
        return 0.0
    device = next(encoder.parameters()).device
    rows = sampled(len(documents), SAMPLE)
    buckets = bucketed(documents, rows, encoder.tokenizer.special.pad)
    logits = encode_buckets(encoder.logits, buckets, device)
    wanted = min(terms * len(rows), logits.numel() - 1)
    amount = float(logits.flatten().topk(wanted + 1, sorted=False).values.min())
    if amount <= 0:
        return 0.0
    encoder.head.bias.sub_(amount)
    return amount


def sampled(n_documents: int, n: int) -> NDArray[np.int64]:
    """The rows of `n` documents, or of all where there are no more, evenly spaced."""
    return np.unique(np.linspace(0, n_documents - 1, min(n, n_documents)).astype(np.int64))
