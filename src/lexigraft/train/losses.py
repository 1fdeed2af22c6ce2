"""Losses as pure functions of scores and vectors (F1, F3)."""

import torch
from torch import Tensor, nn


def in_batch_loss(
    scores: Tensor, same: Tensor | None = None, temperature: float = 1.0, symmetric: bool = False
) -> Tensor:
    """Mean of -log softmax(scores / temperature) at each query's own document, which is on the diagonal.

    `scores` [queries, documents]. `same` marks documents that are a query's own again elsewhere in the batch: they are
    no negatives, and left out (vocabulary study, equation 1). `symmetric` takes the mean of that and of the same
    with queries and documents exchanged: every document must find its query too.
    """
    scaled = scores / temperature
    if same is not None:
        others = same & ~torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
        scaled = scaled.masked_fill(others, float("-inf"))
    own = torch.arange(len(scores), device=scores.device)
    loss = nn.functional.cross_entropy(scaled, own)
    return (loss + nn.functional.cross_entropy(scaled.T, own)) / 2 if symmetric else loss


def keep_heaviest(vectors: Tensor, k: int) -> Tensor:
    """Each row with all but its `k` largest weights set to 0 (0 keeps all); gradients flow through what is kept."""
    if k == 0 or k >= vectors.shape[1]:
        return vectors
    values, places = vectors.topk(k, dim=1)
    return torch.zeros_like(vectors).scatter(1, places, values)
