"""Losses as pure functions of scores and vectors (F1, F3).

Scores are [queries, documents]: a query's own document is on the diagonal, what follows the first square are hard
negatives. Teacher scores are [queries, 1 + negatives], the own document first, not a number where there is none.
"""

import torch
from torch import Tensor, nn


def in_batch_loss(
    scores: Tensor,
    relevant: Tensor | None = None,
    temperature: float = 1.0,
    symmetric: bool = False,
    margin: float = 0.0,
) -> Tensor:
    """Mean of -log softmax((scores - margin at the own document) / temperature) at each query's own document.

    `relevant` marks documents that are known to be relevant to a query: but for its own they are left out, because they
    are no negatives (vocabulary study, equation 1). `margin` is what the own document must be ahead by (additive margin
    softmax). `symmetric` takes the mean of that and of the same with queries and their documents exchanged: every
    document must find its query too, hard negatives need not.
    """
    n = len(scores)
    diagonal = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    scaled = (scores - margin * diagonal) / temperature
    if relevant is not None:
        scaled = scaled.masked_fill(relevant & ~diagonal, float("-inf"))
    own = torch.arange(n, device=scores.device)
    loss = nn.functional.cross_entropy(scaled, own)
    return (loss + nn.functional.cross_entropy(scaled[:, :n].T, own)) / 2 if symmetric else loss


def mask_kl_loss(unmasked: Tensor, masked: Tensor, temperature: float = 1.0) -> Tensor:
    """Mean over queries of KL(softmax(unmasked / temperature) || softmax(masked / temperature)), over all documents of
    the batch. The unmasked scores are what is aimed at: no gradient flows into them."""
    aim = (unmasked.detach() / temperature).log_softmax(1)
    return nn.functional.kl_div((masked / temperature).log_softmax(1), aim, reduction="batchmean", log_target=True)


def margin_mse_loss(scores: Tensor, teacher: Tensor) -> Tensor:
    """Mean over (query, negative) of ((s+ - s-) - (t+ - t-))^2; `scores`, `teacher` [queries, 1 + negatives].

    A pair counts where the teacher scored both documents; 0 where it scored none.
    """
    aim = teacher[:, :1] - teacher[:, 1:]
    known = ~aim.isnan()
    wrong = (scores[:, :1] - scores[:, 1:] - aim.nan_to_num()).square()
    return (wrong * known).sum() / known.sum().clamp_min(1)


def distillation_loss(scores: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """Mean over queries of KL(softmax(teacher) || softmax(scores / temperature)) over the documents that the teacher
    scored; `scores`, `teacher` [queries, 1 + negatives]. Queries with fewer than two such documents do not count."""
    known = ~teacher.isnan()
    counts = known.sum(1) > 1
    # The lowest number instead of -inf: a probability of 0 whose logarithm can still be multiplied by it.
    lowest = torch.finfo(scores.dtype).min
    aim = teacher.masked_fill(~known, lowest).log_softmax(1)
    found = (scores / temperature).masked_fill(~known, lowest).log_softmax(1)
    divergence = (aim.exp() * (aim - found)).masked_fill(~known, 0.0).sum(1)
    return (divergence * counts).sum() / counts.sum().clamp_min(1)


def keep_heaviest(vectors: Tensor, k: int) -> Tensor:
    """Each row with all but its `k` largest weights set to 0 (0 keeps all); gradients flow through what is kept."""
    if k == 0 or k >= vectors.shape[1]:
        return vectors
    values, places = vectors.topk(k, dim=1)
    return torch.zeros_like(vectors).scatter(1, places, values)
