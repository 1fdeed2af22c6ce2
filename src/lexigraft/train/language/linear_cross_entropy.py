"""Cross-entropy over a large vocabulary without its logits.

    loss = mean over rows i of  log sum_j exp(z_ij) - z_i,label(i),   z = H W^T + b

The rows are taken in blocks that hold a bounded number of logits. A block's gradients follow from its probabilities,

    dz = (softmax(z) - onehot(label)) / rows,   dH = dz W,   dW = sum over blocks of dz^T H,   db = sum of dz

so they are computed while its logits are there, in the forward pass, and the logits are forgotten. The backward pass
only multiplies by the gradient of the loss. Under autocast products are of bf16 matrices; sums are at least float32.
On a GPU kernels of our own go through a block twice (`cross_entropy_triton`), where torch's operations do ten times.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lexigraft.model.kernels import kernels_for

CPU_LOGITS = 1 << 22  # of one block: 16 MiB in float32
GPU_LOGITS = 1 << 27


class NamedRows(NamedTuple):
    """The mean loss, which has a gradient, and the share of rows whose label has the highest logit, which has none."""

    loss: Tensor
    accuracy: Tensor


class _Operands(NamedTuple):
    """What the blocks are computed from, in the type of the products; `exact` is the type of sums."""

    hidden: Tensor
    labels: Tensor
    weight: Tensor
    bias: Tensor
    exact: torch.dtype


class _Shares(NamedTuple):
    """Of one block: its loss, how many labels have the highest logit, the gradient of its logits, and the sum of that
    over rows; the last two where they were asked for."""

    loss: Tensor
    n_right: Tensor
    shares: Tensor
    of_bias: Tensor


def linear_cross_entropy(hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor) -> NamedRows:
    """The loss of naming `labels` [rows] from `hidden` [rows, width] by the head `weight` [vocabulary, width], `bias`
    [vocabulary], with gradients to all but the labels; 0 without rows.

    At most as many logits exist at a time as `logits_at_once` says, or those of one row.
    """
    wants_gradient = torch.is_grad_enabled() and any(part.requires_grad for part in (hidden, weight, bias))
    if wants_gradient:
        return NamedRows(*_LinearCrossEntropy.apply(hidden, labels, weight, bias))  # type: ignore[no-untyped-call]
    loss, accuracy, _ = _compute(hidden, labels, weight, bias, with_gradient=False)
    return NamedRows(loss, accuracy)


def linear_cross_entropy_naive(hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor) -> NamedRows:
    """The formula as it is written, with all its logits: the twin that the fast one is tested and measured against."""
    logits = hidden @ weight.T.to(hidden.dtype) + bias.to(hidden.dtype)
    exact = torch.promote_types(logits.dtype, torch.float32)
    loss = nn.functional.cross_entropy(logits.to(exact), labels)
    return NamedRows(loss, (logits.detach().argmax(1) == labels).to(exact).mean())


def logits_at_once(device: torch.device) -> int:
    """How many logits may exist at a time: what a device works on without waste, and small beside its memory."""
    return CPU_LOGITS if device.type == "cpu" else GPU_LOGITS


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        loss, accuracy, gradients = _compute(hidden, labels, weight, bias, with_gradient=True)
        ctx.save_for_backward(*gradients)
        ctx.mark_non_differentiable(accuracy)
        ctx.types = hidden.dtype, weight.dtype, bias.dtype
        return loss, accuracy

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        factor = gradients[0]
        is_one = factor.device.type == "cpu" and factor.item() == 1.0  # elsewhere, asking would wait for the device
        made = [part if is_one else part.mul_(factor) for part in ctx.saved_tensors]
        hidden, weight, bias = (part.to(kind) for part, kind in zip(made, ctx.types, strict=True))
        return hidden, None, weight, bias


def _compute(
    hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor, with_gradient: bool
) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    """(loss, accuracy, gradients of hidden, weight and bias, or none), block by block."""
    given, n_rows = _operands(hidden, labels, weight, bias), max(1, len(hidden))
    loss = torch.zeros((), dtype=given.exact, device=hidden.device)
    n_right = torch.zeros((), dtype=given.exact, device=hidden.device)
    shares_of = _shares_by_torch if kernels_for(given.hidden) is None else _shares_by_kernels
    gradients = tuple(torch.zeros_like(part, dtype=given.exact) for part in (hidden, weight, bias) if with_gradient)
    at_once = max(1, logits_at_once(hidden.device) // len(weight))
    with torch.autocast(hidden.device.type, enabled=False):
        for start in range(0, len(hidden), at_once):
            block = slice(start, start + at_once)
            logits = given.hidden[block] @ given.weight.T
            found = shares_of(logits, given.bias, given.labels[block], 1 / n_rows if with_gradient else None)
            loss += found.loss
            n_right += found.n_right
            if with_gradient:
                _add_gradients(gradients, block, found, given)
    return loss / n_rows, n_right / n_rows, gradients


def _operands(hidden: Tensor, labels: Tensor, weight: Tensor, bias: Tensor) -> _Operands:
    kind = hidden.device.type
    product = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
    exact = torch.promote_types(product, torch.float32)
    return _Operands(hidden.to(product), labels, weight.to(product), bias.to(exact), exact)


def _shares_by_torch(logits: Tensor, bias: Tensor, labels: Tensor, scale: float | None) -> _Shares:
    logits = logits.to(bias.dtype).add_(bias)
    top, best = logits.max(dim=1)
    own = logits.gather(1, labels[:, None]).squeeze(1)
    sums = logits.sub_(top[:, None]).exp_().sum(dim=1)  # from here on, not logits but their shares
    loss, n_right = (sums.log() + top - own).sum(), (best == labels).sum()
    if scale is None:
        return _Shares(loss, n_right, logits, sums)
    shares = logits.mul_((scale / sums)[:, None])
    shares.scatter_add_(1, labels[:, None], shares.new_full((len(own), 1), -scale))
    return _Shares(loss, n_right, shares, shares.sum(dim=0))


def _shares_by_kernels(logits: Tensor, bias: Tensor, labels: Tensor, scale: float | None) -> _Shares:
    from lexigraft.model.cross_entropy_triton import sum_rows, write_shares

    rows, of_bias = sum_rows(logits, bias, labels), torch.zeros_like(bias)
    if scale is not None:
        write_shares(logits, bias, labels, rows.log_sums, scale, of_bias)
    return _Shares(rows.losses.sum(), rows.is_right.sum(), logits, of_bias)


def _add_gradients(gradients: tuple[Tensor, ...], block: slice, found: _Shares, given: _Operands) -> None:
    """Add what one block's shares say to the gradients of hidden, weight and bias."""
    of_hidden, of_weight, of_bias = gradients
    of_bias += found.of_bias
    rounded = found.shares.to(given.hidden.dtype)
    of_hidden[block] = rounded @ given.weight
    if rounded.dtype == of_weight.dtype:
        of_weight.addmm_(rounded.T, given.hidden[block])
    else:
        of_weight += rounded.T @ given.hidden[block]
