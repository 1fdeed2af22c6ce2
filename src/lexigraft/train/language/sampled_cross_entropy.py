"""Cross-entropy over a large vocabulary by a sample of it (sampled softmax).

    loss = mean over rows i of  log( exp(z_iy) + sum over drawn j != y of exp(z_ij) / chance_j ) - z_iy,   y = label(i)

The logits of drawn classes are corrected by the logarithm of how often they are drawn on average; the label's own is
there for certain, and so is not corrected; a drawn class that is the label is left out, as it is there already. On
average over draws the sum is then exactly that of all classes, and with all classes drawn the loss is the full one.

As in `linear_cross_entropy`, rows come in blocks whose gradients are computed while their logits are there. The drawn
rows of the head are gathered once; its whole gradient exists only in the backward pass.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from lexigraft.train.language.linear_cross_entropy import NamedRows, logits_at_once
from lexigraft.train.language.sampled_classes import DrawnClasses


class _Drawn(NamedTuple):
    """The drawn classes on the device, and what they and the labels have in the head, in the type of sums."""

    ids: Tensor
    log_chance: Tensor
    weight: Tensor  # [drawn, width]
    bias: Tensor
    own_weight: Tensor  # [rows, width]: of the labels
    own_bias: Tensor


class _Gradients(NamedTuple):
    """Of hidden, and of the drawn and the labels' weights and biases."""

    hidden: Tensor
    weight: Tensor
    bias: Tensor
    own_weight: Tensor
    own_bias: Tensor


def sampled_cross_entropy(
    hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, drawn: DrawnClasses
) -> NamedRows:
    """As `linear_cross_entropy`, over each row's label and the `drawn` classes. Accuracy is among those, by logits that
    are not corrected: higher than among all, and not to be compared with it."""
    if not len(hidden):
        nothing = (hidden.sum() + weight.sum() + bias.sum()) * 0
        return NamedRows(nothing, nothing.detach())
    ids, log_chance = (torch.from_numpy(part).to(hidden.device) for part in drawn)
    apply: Any = _SampledCrossEntropy.apply
    return NamedRows(*apply(hidden, labels, weight, bias, ids, log_chance))


def sampled_cross_entropy_naive(
    hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, drawn: DrawnClasses
) -> NamedRows:
    """The formula row by row: the twin that the fast one is tested against."""
    losses, right = [], []
    ids, log_chance = drawn.ids.tolist(), drawn.log_chance.tolist()
    for row, label in zip(hidden, labels.tolist(), strict=True):
        own = row @ weight[label] + bias[label]
        others = [(row @ weight[j] + bias[j], log) for j, log in zip(ids, log_chance, strict=True) if j != label]
        corrected = [own, *(logit - log for logit, log in others)]
        losses.append(torch.logsumexp(torch.stack(corrected), 0) - own)
        right.append(float(all(own >= logit for logit, _ in others)))
    return NamedRows(torch.stack(losses).mean(), torch.tensor(right, dtype=hidden.dtype).mean())


class _SampledCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, ids: Tensor, log_chance: Tensor
    ) -> tuple[Tensor, Tensor]:
        kind = hidden.device.type
        product = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        exact = torch.promote_types(product, torch.float32)
        gathered = (part[places].to(exact) for places in (ids, labels) for part in (weight, bias))
        with torch.autocast(kind, enabled=False):
            loss, accuracy, gradients = _compute(
                hidden, labels, _Drawn(ids, log_chance.to(exact), *gathered), product, exact
            )
        ctx.save_for_backward(ids, labels, *gradients)
        ctx.mark_non_differentiable(accuracy)
        ctx.types, ctx.shape = (hidden.dtype, weight.dtype, bias.dtype), weight.shape
        return loss, accuracy

    @staticmethod
    def backward(ctx: Any, *factors: Tensor) -> tuple[Tensor | None, ...]:
        ids, labels, *parts = ctx.saved_tensors
        found = _Gradients(*(part * factors[0] for part in parts))
        of_hidden, of_weight, of_bias = ctx.types
        # Labels repeat, so theirs are added; not by index_add, whose order differs from run to run on a GPU.
        weight = found.weight.new_zeros(ctx.shape, dtype=of_weight)
        weight[ids] = found.weight.to(of_weight)
        weight.index_put_((labels,), found.own_weight.to(of_weight), accumulate=True)
        bias = found.bias.new_zeros(ctx.shape[0], dtype=of_bias)
        bias[ids] = found.bias.to(of_bias)
        bias.index_put_((labels,), found.own_bias.to(of_bias), accumulate=True)
        return found.hidden.to(of_hidden), None, weight, bias, None, None


def _compute(
    hidden: Tensor, labels: Tensor, drawn: _Drawn, product: torch.dtype, exact: torch.dtype
) -> tuple[Tensor, Tensor, _Gradients]:
    """(loss, accuracy, gradients), block by block; products are of type `product`, sums of type `exact`."""
    n_rows, rounded, states = len(hidden), drawn.weight.to(product), hidden.to(product)
    gradients = _Gradients(*(torch.zeros_like(part, dtype=exact) for part in (hidden, *drawn[2:])))
    loss, n_right = (torch.zeros((), dtype=exact, device=hidden.device) for _ in range(2))
    place = torch.searchsorted(drawn.ids, labels).clamp_(max=len(drawn.ids) - 1)
    is_drawn = drawn.ids[place] == labels
    at_once = max(1, logits_at_once(hidden.device) // len(drawn.ids))
    for start in range(0, n_rows, at_once):
        block = slice(start, start + at_once)
        rows = hidden[block].to(exact)
        own = (rows * drawn.own_weight[block]).sum(dim=1) + drawn.own_bias[block]
        logits = (states[block] @ rounded.T).to(exact).add_(drawn.bias)
        repeated = torch.where(is_drawn[block], -torch.inf, 0.0).to(exact)
        logits.scatter_add_(1, place[block, None], repeated[:, None])
        n_right += (own >= logits.amax(dim=1)).sum()
        logits.sub_(drawn.log_chance)
        top = torch.maximum(logits.amax(dim=1), own)
        shares, own_share = logits.sub_(top[:, None]).exp_(), (own - top).exp()
        sums = shares.sum(dim=1) + own_share
        loss += (sums.log() + top - own).sum()
        shares.mul_((1 / (n_rows * sums))[:, None])
        own_share = (own_share / sums - 1) / n_rows
        gradients.bias.add_(shares.sum(dim=0))
        gradients.own_bias[block] = own_share
        gradients.own_weight[block] = own_share[:, None] * rows
        shares = shares.to(product)
        gradients.weight.add_(shares.T @ states[block])
        gradients.hidden[block] = (shares @ rounded).to(exact) + own_share[:, None] * drawn.own_weight[block]
    return loss / n_rows, n_right / n_rows, gradients
