import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.model import pool_gpu, pool_tiled
from lexigraft.model.pool import max_over_tokens, max_over_tokens_naive, saturate
from lexigraft.model.pool_gpu import rectangle_gradients
from lexigraft.model.pool_sparse import sparse_gradients


def inputs(seed, batch=3, length=5, width=4, n_terms=11):
    generator = torch.Generator().manual_seed(seed)
    hidden, weight = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((batch, length, width), (n_terms, width))
    )
    bias = torch.randn(n_terms, generator=generator, dtype=torch.float64)
    mask = (torch.rand(batch, length, generator=generator) < 0.7).long()
    mask[:, 0] = 1
    return [tensor.requires_grad_() for tensor in (hidden, weight, bias)], mask


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_values_and_gradients_equal_the_naive_formula(seed, on_gpu, monkeypatch):
    monkeypatch.setattr(pool_tiled, "TILE_LOGITS", 64)  # many tiles, and gradients gathered in many pieces
    if on_gpu:  # as it would be pooled there
        monkeypatch.setattr(pool_tiled, "fill_packed", pool_gpu.fill_rectangle)
    (hidden, weight, bias), mask = inputs(seed, n_terms=200)
    naive = saturate(max_over_tokens_naive(hidden, mask, weight, bias))
    tiled = saturate(max_over_tokens(hidden, mask, weight, bias))
    torch.testing.assert_close(tiled, naive)
    upstream = torch.randn(naive.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = torch.autograd.grad(naive, (hidden, weight, bias), upstream)
    found = torch.autograd.grad(tiled, (hidden, weight, bias), upstream)
    for theirs, ours in zip(expected, found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_gradients_equal_finite_differences():
    (hidden, weight, bias), mask = inputs(7)
    assert torch.autograd.gradcheck(
        lambda *tensors: saturate(max_over_tokens(tensors[0], mask, *tensors[1:])), (hidden, weight, bias)
    )


def test_padding_never_contributes():
    (hidden, weight, bias), mask = inputs(0)
    loud = torch.where(mask.bool().unsqueeze(-1), hidden, torch.full_like(hidden, 1e6)).detach()
    torch.testing.assert_close(max_over_tokens(loud, mask, weight, bias), max_over_tokens(hidden, mask, weight, bias))


@pytest.mark.parametrize("fill", [pool_tiled.fill_packed, pool_gpu.fill_rectangle])
def test_a_text_without_a_pooled_token_has_no_logit(fill):
    (hidden, weight, bias), mask = inputs(0)
    mask[1] = 0
    best = torch.empty(len(hidden), len(weight), dtype=torch.float64)
    fill(best, hidden.detach(), mask.bool(), weight.detach(), bias.detach())
    assert best[1].tolist() == [float("-inf")] * len(weight)
    torch.testing.assert_close(best[0], max_over_tokens(hidden, mask, weight, bias)[0])


@given(
    st.integers(1, 5), st.integers(1, 6), st.integers(1, 40), st.floats(0, 1), st.integers(1, 400), st.integers(0, 9999)
)
def test_sparse_gradients_are_those_of_whole_rectangles(n_texts, length, n_terms, share, tile, seed):
    (hidden, weight, _), mask = inputs(seed, n_texts, length, n_terms=n_terms)
    drawn = torch.Generator().manual_seed(seed)
    grad = torch.randn(n_texts, n_terms, generator=drawn, dtype=torch.float64)
    grad *= torch.rand(grad.shape, generator=drawn) < share
    given_to_both = grad, hidden.detach(), mask.bool(), weight.detach(), tile
    for ours, theirs in zip(sparse_gradients(*given_to_both), rectangle_gradients(*given_to_both), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_by_hand():
    # Two tokens, two terms: logits [[1, -2], [3, -1]] + bias [0.5, 0]; maxima 3.5 and -1.
    hidden = torch.tensor([[[1.0, 0.0], [3.0, 1.0]]])
    weight = torch.tensor([[1.0, 0.0], [-2.0, 5.0]])
    best = max_over_tokens(hidden, torch.ones(1, 2), weight, torch.tensor([0.5, 0.0]))
    assert best.tolist() == [[3.5, -1.0]]
    assert saturate(best)[0].tolist() == pytest.approx([1.504077, 0.0])  # ln 4.5


def test_memory_does_not_hold_the_logits(monkeypatch):
    """No product of the forward or backward pass reaches batch x length x vocabulary."""
    sizes = []

    def watching(product):
        def watched(*tensors, **options):
            result = product(*tensors, **options)
            sizes.append(result.numel())
            return result

        return watched

    monkeypatch.setattr(torch, "mm", watching(torch.mm))
    monkeypatch.setattr(torch, "bmm", watching(torch.bmm))
    monkeypatch.setattr(torch.Tensor, "__matmul__", watching(torch.Tensor.__matmul__))
    monkeypatch.setattr(pool_tiled, "TILE_LOGITS", 1 << 12)
    (hidden, weight, bias), mask = inputs(1, batch=4, length=8, n_terms=5000)
    max_over_tokens(hidden, mask, weight, bias).sum().backward()
    assert len(sizes) > 50
    assert 0 < max(sizes) <= 1 << 12


@pytest.mark.parametrize("tile", [1, 500, 1 << 20])
def test_gradients_of_few_terms_equal_the_naive_formula(tile, monkeypatch):
    """As after a top-k mask: most terms have none, and texts differ in how many do."""
    monkeypatch.setattr(pool_tiled, "TILE_LOGITS", tile)
    (hidden, weight, bias), mask = inputs(3, batch=6, n_terms=300)
    upstream = torch.randn(6, 300, dtype=torch.float64) * (torch.rand(6, 300) < torch.linspace(0, 0.2, 6)[:, None])
    expected = torch.autograd.grad(max_over_tokens_naive(hidden, mask, weight, bias), (hidden, weight, bias), upstream)
    found = torch.autograd.grad(max_over_tokens(hidden, mask, weight, bias), (hidden, weight, bias), upstream)
    for theirs, ours in zip(expected, found, strict=True):
        torch.testing.assert_close(ours, theirs)
