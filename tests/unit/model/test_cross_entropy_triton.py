"""The cross-entropy's kernels against the formula in float64, through Triton's interpreter or on a GPU."""

import pytest

from lexigraft.train.language import linear_cross_entropy as module
from lexigraft.train.language.linear_cross_entropy import linear_cross_entropy, linear_cross_entropy_naive
from tests.triton_kernels import DEVICE, kernels, torch

# rows, width, terms: odd sizes, and more terms than a kernel reads at once.
SHAPES = [(7, 5, 130), (1, 3, 1), (33, 16, 129), (5, 8, 4100), (40, 70, 31)]
GRADIENTS = {torch.bfloat16: 2e-2, torch.float16: 3e-3, torch.float32: 1e-5}


@pytest.fixture(autouse=True)
def by_kernels(monkeypatch):
    monkeypatch.setattr(module, "kernels_for", lambda operand: kernels if operand.dtype != torch.float64 else None)
    monkeypatch.setattr(module, "CPU_LOGITS", 600)  # several blocks
    monkeypatch.setattr(module, "GPU_LOGITS", 600)


def operands(shape, seed, dtype):
    """Numbers that the type can hold, so that only products and sums round."""
    rows, width, terms = shape
    draw = torch.Generator().manual_seed(seed)
    parts = [torch.randn(*size, generator=draw).to(dtype) for size in ((rows, width), (terms, width), (terms,))]
    labels = torch.randint(0, terms, (rows,), generator=draw)
    return [part.to(DEVICE) for part in parts], labels.to(DEVICE)


def outcome(function, parts, labels):
    parts = [part.detach().clone().requires_grad_() for part in parts]
    found = function(parts[0], labels, *parts[1:])
    (-2.5 * found.loss).backward()
    return found.loss.detach(), found.accuracy, [part.grad for part in parts]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_loss_accuracy_and_gradients_are_those_of_the_formula(shape, dtype):
    parts, labels = operands(shape, 1, dtype)
    loss, accuracy, gradients = outcome(linear_cross_entropy, parts, labels)
    true, share, expected = outcome(linear_cross_entropy_naive, [part.double() for part in parts], labels)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), true, rtol=GRADIENTS[dtype], atol=GRADIENTS[dtype])
    assert abs(float(accuracy) - float(share)) <= 1 / shape[0]
    if dtype == torch.float32:
        assert float(accuracy) == pytest.approx(float(share))
    for ours, theirs in zip(gradients, expected, strict=True):
        scale = float(theirs.abs().max()) or 1.0
        assert float((ours.double() - theirs).abs().max()) <= GRADIENTS[dtype] * scale


def test_the_same_bits_twice_and_no_row_no_loss():
    parts, labels = operands((33, 16, 129), 2, torch.bfloat16)
    one, other = (outcome(linear_cross_entropy, parts, labels) for _ in range(2))
    assert torch.equal(one[0], other[0])
    assert all(torch.equal(mine, yours) for mine, yours in zip(one[2], other[2], strict=True))
    none = linear_cross_entropy(parts[0][:0], labels[:0], *parts[1:])
    assert float(none.loss) == 0.0 and float(none.accuracy) == 0.0


def test_of_equal_logits_the_first_is_the_highest():
    hidden, labels = torch.zeros(3, 4), torch.tensor([0, 7, 4096])  # the last is read after the others
    parts = [part.to(DEVICE) for part in (hidden, labels, torch.ones(4100, 4), torch.zeros(4100))]
    assert float(linear_cross_entropy(*parts).accuracy) == pytest.approx(1 / 3)


def test_a_term_may_be_impossible():
    parts, labels = operands((6, 4, 50), 5, torch.float32)
    parts[2][:3], labels = float("-inf"), labels.clamp_min(3)
    found = linear_cross_entropy(parts[0], labels, *parts[1:])
    true = linear_cross_entropy_naive(parts[0].double(), labels, *(part.double() for part in parts[1:]))
    torch.testing.assert_close(found.loss.double(), true.loss, rtol=1e-6, atol=1e-6)


def test_large_logits_overflow_nothing():
    parts, labels = operands((6, 4, 50), 3, torch.float32)
    parts = [50 * part for part in parts]
    found = linear_cross_entropy(parts[0], labels, *parts[1:])
    true = linear_cross_entropy_naive(parts[0].double(), labels, *(part.double() for part in parts[1:]))
    torch.testing.assert_close(found.loss.double(), true.loss, rtol=1e-6, atol=1e-6)


def test_what_is_no_number_is_not_hidden():
    parts, labels = operands((6, 4, 50), 4, torch.float32)
    parts[0][3, 1] = float("nan")
    assert bool(linear_cross_entropy(parts[0], labels, *parts[1:]).loss.isnan())
