"""Cross-entropy in blocks against the formula with all its logits: the same loss, accuracy and gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.train.language import linear_cross_entropy as module
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy, linear_cross_entropy_naive


def case(rows, terms, width, seed, dtype=torch.float64):
    torch.manual_seed(seed)
    hidden, weight, bias = torch.randn(rows, width), 3 * torch.randn(terms, width), torch.randn(terms)
    parts = [part.to(dtype).requires_grad_() for part in (hidden, weight, bias)]
    return parts, torch.randint(0, terms, (rows,))


def outcome(function, parts, labels, factor=1.0):
    for part in parts:
        part.grad = None
    hidden, weight, bias = parts
    found = function(hidden, labels, weight, bias)
    (found.loss * factor).backward()
    return found.loss.detach(), found.accuracy, *(part.grad for part in parts)


@given(
    st.integers(1, 12), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99), st.integers(1, 40),
    st.sampled_from([1.0, -2.5]),
)  # fmt: skip
def test_as_the_twin_whatever_the_blocks(rows, terms, width, seed, budget, factor):
    parts, labels = case(rows, terms, width, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CPU_LOGITS", budget)
        found = outcome(linear_cross_entropy, parts, labels, factor)
    for ours, theirs in zip(found, outcome(linear_cross_entropy_naive, parts, labels, factor), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


def test_never_more_logits_than_allowed(monkeypatch):
    """The largest tensor that any operation makes has the size of an input, not [rows, vocabulary]."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        seen = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for part in made if isinstance(made, tuple) else (made,):
                if isinstance(part, torch.Tensor):
                    self.seen = max(self.seen, part.numel())
            return made

    parts, labels = case(300, 50, 4, seed=0)
    monkeypatch.setattr(module, "CPU_LOGITS", 500)
    with Largest() as largest:
        outcome(linear_cross_entropy, parts, labels)
    assert largest.seen == 300 * 4  # the hidden states themselves
    with Largest() as largest:
        outcome(linear_cross_entropy_naive, parts, labels)
    assert largest.seen == 300 * 50


def test_without_gradients_the_same_loss():
    parts, labels = case(20, 30, 4, seed=1)
    hidden, weight, bias = parts
    with torch.no_grad():
        found = linear_cross_entropy(hidden, labels, weight, bias)
    assert not found.loss.requires_grad
    torch.testing.assert_close(found.loss, linear_cross_entropy_naive(hidden, labels, weight, bias).loss.detach())


def test_large_logits_do_not_overflow():
    hidden, weight = torch.tensor([[1e4]]), torch.tensor([[1.0], [-1.0]])
    loss = [linear_cross_entropy(hidden, torch.tensor([label]), weight, torch.zeros(2)).loss.item() for label in (0, 1)]
    assert loss == [0.0, 2e4]


def test_no_rows():
    (hidden, weight, bias), labels = case(0, 3, 2, seed=0)
    found = outcome(linear_cross_entropy, (hidden, weight, bias), labels)
    assert (found[0].item(), found[1].item(), found[3].abs().sum().item()) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_half_the_bits_in_products_alone(dtype):
    """Under autocast products are rounded as the twin's are, sums are not; gradients have the parameters' type."""
    parts, labels = case(64, 500, 16, seed=2, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.bfloat16):
        ours, theirs = (outcome(f, parts, labels) for f in (linear_cross_entropy, linear_cross_entropy_naive))
    assert ours[0].dtype == torch.float32
    assert [gradient.dtype for gradient in ours[2:]] == [torch.float32] * 3
    close = {"rtol": 0.02, "atol": 0.02 * theirs[3].abs().max().item()} if dtype is torch.bfloat16 else {}
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, **close)
