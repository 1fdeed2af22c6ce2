"""How a GPU pools: whole rectangles in large tiles and no atomics (see `pool` for what is computed).

Tokens that are not pooled are replaced by one of their text that is, which changes no maximum, so that nothing has to
be masked. The backward pass looks only at terms with a gradient somewhere in the batch: it multiplies them again, finds
the tokens, and sends the gradients through two matrix products. Tiles are multiples of 64 terms: matrix products of
other widths are several times slower.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

GPU_TILE_LOGITS = 1 << 27
ALIGNED = 64  # terms


def fill_rectangle(best: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, bias: Tensor) -> None:
    """Fill `best` [texts, vocabulary] with the largest logit of every term; -inf where no token is pooled."""
    tokens, _ = _only_pooled(hidden, pooled)
    empty = ~pooled.any(1, keepdim=True)
    for start, end in _tiles(len(weight), tokens.shape[0] * tokens.shape[1]):
        rows = _padded(weight[start:end].to(hidden.dtype))
        largest = (tokens @ rows.T).amax(1)[:, : end - start].to(best.dtype) + bias[start:end].to(best.dtype)
        best[:, start:end] = largest.masked_fill_(empty, float("-inf"))


def rectangle_gradients(
    grad: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, tile_logits: int = GPU_TILE_LOGITS
) -> tuple[Tensor, Tensor]:
    """(gradient of `hidden`, gradient of `weight`) for that of the largest logits [texts, vocabulary]."""
    tokens, pooled_one = _only_pooled(hidden, pooled)
    n_texts, length, width = hidden.shape
    grad_hidden = torch.zeros(n_texts * length, width, dtype=grad.dtype, device=hidden.device)
    grad_weight = torch.zeros(weight.shape, dtype=grad.dtype, device=weight.device)
    used = (grad != 0).any(0).nonzero().squeeze(1)
    for start, end in _tiles(len(used), n_texts * length, tile_logits):
        terms = used[start:end]
        rows = _padded(weight[terms].to(hidden.dtype))
        token = (tokens @ rows.T).argmax(1)  # [texts, terms]
        token = torch.where(pooled.gather(1, token), token, pooled_one[:, None])
        values = nn.functional.pad(grad[:, terms], (0, len(rows) - len(terms))).to(hidden.dtype)
        sent = torch.zeros(n_texts, length, len(rows), dtype=hidden.dtype, device=hidden.device)
        sent = sent.scatter_(1, token[:, None, :], values[:, None, :]).view(-1, len(rows))
        grad_hidden += sent @ rows
        grad_weight[terms] = (sent.T @ hidden.reshape(-1, width))[: len(terms)].to(grad.dtype)
    return grad_hidden.view(hidden.shape), grad_weight


def _only_pooled(hidden: Tensor, pooled: Tensor) -> tuple[Tensor, Tensor]:
    """(`hidden` with every token that is not pooled replaced, the place of the token that replaces it in each text)."""
    place = pooled.int().argmax(1)
    one = hidden[torch.arange(len(hidden), device=hidden.device), place]
    return torch.where(pooled.unsqueeze(-1), hidden, one.unsqueeze(1)), place


def _tiles(n_terms: int, n_tokens: int, tile_logits: int = GPU_TILE_LOGITS) -> Iterator[tuple[int, int]]:
    tile = max(ALIGNED, tile_logits // max(1, n_tokens) // ALIGNED * ALIGNED)
    return ((start, min(start + tile, n_terms)) for start in range(0, n_terms, tile))


def _padded(rows: Tensor) -> Tensor:
    """`rows` with rows of zeros up to a multiple of ALIGNED."""
    return nn.functional.pad(rows, (0, 0, 0, -len(rows) % ALIGNED))
