"""MAX pooling over a large vocabulary without its logits (H4, H7).

    w_j = log(1 + ReLU(max_i (W h_i + b)_j)),   i over the tokens that are pooled

ReLU and log1p grow with their argument, so the maximum is taken first and they are applied once per term. The forward
pass packs the pooled tokens of all texts together, goes through the vocabulary in tiles and keeps of each only the
maximum. Which token it came from matters only for terms with a gradient, after top-k masks a few hundred of them, so
the backward pass finds it again for those alone. Nothing of size [batch, length, vocabulary] ever exists.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from lexigraft.model.pool_gpu import fill_rectangle, rectangle_gradients

TILE_LOGITS = 1 << 22  # logits of one tile, all tokens together: 16 MiB in fp32
DENSE = 0.3  # the share of terms with a gradient from which a CPU, too, is faster with whole rectangles

warnings.filterwarnings("ignore", "index_reduce", UserWarning)  # "beta": its tests against the twin are ours


class _MaxOverTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        n_terms, pooled = weight.shape[0], mask.bool()
        exact = torch.promote_types(hidden.dtype, torch.float32)  # sums and results in at least single precision
        best = hidden.new_empty((len(hidden), n_terms), dtype=exact)
        fill = fill_rectangle if hidden.is_cuda else fill_packed
        fill(best, hidden, pooled, weight, bias)
        ctx.save_for_backward(hidden, pooled, weight)
        ctx.bias_dtype = bias.dtype
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        hidden, pooled, weight = ctx.saved_tensors
        (grad,) = gradients
        if hidden.is_cuda:
            grad_hidden, grad_weight = rectangle_gradients(grad, hidden, pooled, weight)
        elif torch.count_nonzero(grad) > DENSE * grad.numel():
            grad_hidden, grad_weight = rectangle_gradients(grad, hidden, pooled, weight, TILE_LOGITS)
        else:
            grad_hidden, grad_weight = packed_gradients(grad, hidden, pooled, weight)
        return grad_hidden.to(hidden.dtype), None, grad_weight.to(weight.dtype), grad.sum(0).to(ctx.bias_dtype)


def fill_packed(best: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor, bias: Tensor) -> None:
    """Only the tokens that are pooled, packed together: a CPU multiplies no padding."""
    packed = hidden[pooled]  # [tokens, width]
    text_of = pooled.nonzero()[:, 0]
    tile = min(max(64, TILE_LOGITS // max(1, len(packed))), len(weight))
    logits = packed.new_empty((len(packed), tile))  # one piece of memory for all tiles
    for start in range(0, len(weight), tile):
        rows = weight[start : start + tile].to(hidden.dtype)
        here = logits if len(rows) == tile else packed.new_empty((len(packed), len(rows)))
        torch.mm(packed, rows.T, out=here)
        largest = here.new_full((len(hidden), len(rows)), float("-inf"))
        largest.index_reduce_(0, text_of, here, "amax")
        best[:, start : start + tile] = largest.to(best.dtype) + bias[start : start + tile].to(best.dtype)


def packed_gradients(grad: Tensor, hidden: Tensor, pooled: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """(gradient of `hidden`, gradient of `weight`): each text's terms with a gradient, a few hundred, and no others."""
    grad_hidden = torch.zeros(hidden.shape, dtype=grad.dtype, device=hidden.device)
    grad_weight = torch.zeros(weight.shape, dtype=grad.dtype, device=weight.device)
    for texts, places, terms in _terms_with_gradient(grad, hidden.shape[1] + hidden.shape[2]):
        rows = weight[terms].to(hidden.dtype)  # [texts, places, width]
        logits = torch.bmm(hidden[texts], rows.transpose(1, 2))  # [texts, length, places]
        token = logits.masked_fill(~pooled[texts].unsqueeze(-1), float("-inf")).argmax(dim=1)
        values = grad[texts].gather(1, terms).masked_fill(~places, 0).unsqueeze(-1)
        at = token.unsqueeze(-1).expand(-1, -1, hidden.shape[2])
        grad_hidden[texts] = grad_hidden[texts].scatter_add(1, at, values * rows.to(grad.dtype))
        sources = values * hidden[texts].gather(1, at).to(grad.dtype)
        grad_weight.index_add_(0, terms[places], sources[places])
    return grad_hidden, grad_weight


def _terms_with_gradient(grad: Tensor, cost: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Groups of texts with the terms that have a gradient in them: (texts, which places are real, term of each place).

    `cost` numbers are needed for a text and term; a group is as large as fits a tile.
    """
    active = grad != 0
    counts = active.sum(1).tolist()
    n_texts, start = len(grad), 0
    while start < n_texts:
        end, width = start + 1, counts[start]
        while end < n_texts and max(width, counts[end]) * (end + 1 - start) * cost <= TILE_LOGITS:
            width, end = max(width, counts[end]), end + 1
        here = active[start:end]
        if width * (end - start) * cost > TILE_LOGITS:  # one text, too many terms: a part of them at a time
            part = max(1, TILE_LOGITS // cost)
            for terms in torch.split(here[0].nonzero().squeeze(1), part):
                yield slice(start, end), torch.ones_like(terms, dtype=torch.bool)[None], terms[None]
        elif width:
            rows, columns = here.nonzero(as_tuple=True)
            place = torch.arange(len(rows), device=grad.device) - (here.sum(1).cumsum(0) - here.sum(1))[rows]
            terms = torch.zeros((end - start, width), dtype=torch.int64, device=grad.device)
            places = torch.zeros((end - start, width), dtype=torch.bool, device=grad.device)
            terms[rows, place], places[rows, place] = columns, True
            yield slice(start, end), places, terms
        start = end


def max_over_tokens(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The largest logit of every term [batch, vocabulary], in float32 or better.

    `hidden` [batch, length, width], `mask` [batch, length] (0 where a token is not pooled), `weight` [vocabulary,
    width], `bias` [vocabulary]. A text without a pooled token has -inf everywhere.
    """
    if torch.is_autocast_enabled(hidden.device.type):  # a layer norm hands on float32; products take half the bits
        hidden = hidden.to(torch.get_autocast_dtype(hidden.device.type))
    best: Tensor = _MaxOverTokens.apply(hidden, mask, weight, bias)  # type: ignore[no-untyped-call]
    return best


def saturate(best: Tensor) -> Tensor:
    """log(1 + ReLU(x)): logits to term weights."""
    return torch.log1p(torch.relu(best))


def max_over_tokens_naive(hidden: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The formula as it is written, with all its logits: the twin that the fast one is tested and measured against."""
    logits = hidden @ weight.T + bias
    return logits.masked_fill(~mask.bool().unsqueeze(-1), float("-inf")).max(dim=1).values
