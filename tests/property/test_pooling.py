"""SUM pooling in tiles against the formula as it is written, in float64: values and gradients."""

from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.model import pool_sum
from lexigraft.model.activation import ACTIVATIONS, activate, slope
from lexigraft.model.pool_sum import sum_over_tokens, sum_over_tokens_naive

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(1, 30))


def tensors(shape, seed):
    batch, length, width, n_terms = shape
    generator = torch.Generator().manual_seed(seed)

    def drawn(*size):
        return torch.randn(*size, generator=generator, dtype=torch.float64).requires_grad_()

    mask = (torch.rand(batch, length, generator=generator) < 0.7).long()  # some texts have no pooled token at all
    return (drawn(batch, length, width), drawn(n_terms, width), drawn(n_terms)), mask, generator


@given(SHAPES, st.integers(0, 10_000), st.integers(1, 100), st.floats(0, 1), st.sampled_from(sorted(ACTIVATIONS)))
def test_values_and_gradients_equal_the_formula(shape, seed, tile, share, activation):
    (hidden, weight, bias), mask, generator = tensors(shape, seed)
    upstream = torch.randn(shape[0], shape[3], generator=generator, dtype=torch.float64)
    upstream = upstream * (torch.rand(upstream.shape, generator=generator) < share)  # as after a top-k mask
    with mock.patch.object(pool_sum, "TILE_LOGITS", tile):
        tiled = sum_over_tokens(hidden, mask, weight, bias, activation)
        found = torch.autograd.grad(tiled, (hidden, weight, bias), upstream)
    naive = sum_over_tokens_naive(hidden, mask, weight, bias, activation)
    expected = torch.autograd.grad(naive, (hidden, weight, bias), upstream)
    torch.testing.assert_close(tiled, naive)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20), st.sampled_from(sorted(ACTIVATIONS)))
def test_the_slope_is_the_derivative(values, activation):
    logits = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (expected,) = torch.autograd.grad(activate(logits, activation).sum(), logits)
    torch.testing.assert_close(slope(logits.detach(), activation), expected)


def test_half_precision_keeps_its_sums_in_single():
    (hidden, weight, bias), mask, _ = tensors((3, 5, 4, 20), 1)
    half = [part.detach().float() for part in (hidden, weight, bias)]
    half[0] = half[0].bfloat16()
    found = sum_over_tokens(half[0].requires_grad_(), mask, half[1], half[2])
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), sum_over_tokens_naive(hidden, mask, weight, bias), atol=0.1, rtol=0.02)
    found.sum().backward()
    assert half[0].grad.dtype == torch.bfloat16


def test_no_product_is_as_large_as_all_logits(monkeypatch):
    sizes, product = [], torch.mm

    def watched(*arguments, **options):
        result = product(*arguments, **options)
        sizes.append(result.numel())
        return result

    monkeypatch.setattr(torch, "mm", watched)
    monkeypatch.setattr(pool_sum, "TILE_LOGITS", 1 << 12)
    (hidden, weight, bias), mask, _ = tensors((4, 8, 4, 5000), 1)
    sum_over_tokens(hidden, mask, weight, bias).sum().backward()
    assert len(sizes) >= 2 * 5000 * int(mask.sum()) // (1 << 12)  # forward, and once more backward
    assert max(sizes) <= 1 << 12


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_gradients_equal_finite_differences(activation):
    (hidden, weight, bias), mask, _ = tensors((2, 3, 3, 7), 5)
    assert torch.autograd.gradcheck(
        lambda *parts: sum_over_tokens(parts[0], mask, *parts[1:], activation), (hidden, weight, bias)
    )
