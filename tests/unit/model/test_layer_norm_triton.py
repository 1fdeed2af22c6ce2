"""The kernels of layer normalisation against torch's in float64, through Triton's interpreter or on a GPU."""

import pytest

from lexigraft.model.layer_norm import LayerNorm, use_kernels
from tests.triton_kernels import DEVICE, torch

from lexigraft.model import layer_norm_triton  # isort: skip  # after what says whether Triton interprets

SHAPES = [(3, 5, 130), (1, 1), (9, 64), (2, 2, 3, 33), (4, 2050), (0, 7), (37, 384)]
ALLOWED = {torch.bfloat16: 1e-2, torch.float16: 1e-3, torch.float32: 2e-6}


def operands(shape, dtype, seed=1):
    draw = torch.Generator().manual_seed(seed)
    values = 3 + 2 * torch.randn(shape, generator=draw)
    weight, bias = torch.randn(2, shape[-1], generator=draw)
    upstream = torch.randn(shape, generator=draw)
    return [part.to(dtype).to(DEVICE) for part in (values, weight, bias, upstream)]


def outcome(normalise, parts, upstream):
    parts = [part.detach().clone().requires_grad_() for part in parts]
    found = normalise(*parts)
    return [found.detach(), *torch.autograd.grad(found, parts, upstream)]


def by_kernels(values, weight, bias=None):
    return layer_norm_triton.layer_norm(values, weight, bias, 1e-5, values.dtype)


def by_torch(values, weight, bias=None):
    return torch.nn.functional.layer_norm(values, weight.shape, weight, bias, 1e-5)


@pytest.mark.parametrize("dtype", list(ALLOWED), ids=str)
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_and_gradients_are_those_of_the_formula(shape, has_bias, dtype, monkeypatch):
    monkeypatch.setattr(layer_norm_triton, "PROGRAMS", 2)  # each goes over several tiles of rows
    values, weight, bias, upstream = operands(shape, dtype)
    parts = [values, weight, bias] if has_bias else [values, weight]
    found = outcome(by_kernels, parts, upstream)
    exact = outcome(by_torch, [part.double() for part in parts], upstream.double())
    assert [part.dtype for part in found] == [dtype] * len(found)
    assert [part.shape for part in found] == [part.shape for part in exact]
    for ours, theirs in zip(found, exact, strict=True):
        if theirs.numel():
            scale = max(1.0, float(theirs.abs().max()))
            assert float((ours.double() - theirs).abs().max()) <= ALLOWED[dtype] * scale


def test_a_row_by_hand():
    values = torch.tensor([[1.0, 3.0, 5.0, 7.0]], device=DEVICE)  # mean 4, variance 5
    weight, bias = torch.tensor([[1.0, 1, 2, 1], [0, 0, 1, 0]], device=DEVICE)
    found = layer_norm_triton.layer_norm(values, weight, bias, 4.0, torch.float32)  # scale 1 / 3
    torch.testing.assert_close(found.cpu(), torch.tensor([[-1.0, -1 / 3, 5 / 3, 1.0]]))


def test_a_gradient_by_hand():
    """x' = (-1, 1), dy = (1, 0), weight (2, 1): g = (2, 0), and g - mean(g) - x' mean(g x') = (2, 0) - 1 - (1, -1)."""
    values = torch.tensor([[0.0, 2.0]], device=DEVICE)
    weight, bias = torch.tensor([[2.0, 1.0], [0.0, 0.0]], device=DEVICE)
    upstream = torch.tensor([[1.0, 0.0]], device=DEVICE)
    parts = [part.requires_grad_() for part in (values, weight, bias)]
    found = layer_norm_triton.layer_norm(*parts, 1e-12, torch.float32)
    of_values, of_weight, of_bias = torch.autograd.grad(found, parts, upstream)
    assert of_values.tolist() == [[0.0, 0.0]] and of_weight.tolist() == [-1.0, 0.0] and of_bias.tolist() == [1.0, 0.0]


def test_what_was_normalised_may_be_changed_in_place():
    """Some families multiply it by their mask."""
    values, weight, bias, upstream = operands((2, 3, 40), torch.float32)
    found = outcome(lambda *parts: by_kernels(*parts).mul_(2.0), [values, weight, bias], upstream)
    expected = outcome(lambda *parts: by_torch(*parts).mul_(2.0), [values, weight, bias], upstream)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_the_same_bits_twice():
    values, weight, bias, upstream = operands((70, 96), torch.float32)
    one, other = (outcome(by_kernels, [values, weight, bias], upstream) for _ in range(2))
    assert all(torch.equal(mine, yours) for mine, yours in zip(one, other, strict=True))


def test_rows_may_lie_apart_and_be_of_another_type_than_what_is_asked_for():
    values, weight, bias, _ = operands((6, 40), torch.float32)
    turned = values.bfloat16().T.contiguous().T
    found = layer_norm_triton.layer_norm(turned, weight, bias, 1e-5, torch.float32)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, by_torch(values.bfloat16().float(), weight, bias), rtol=1e-5, atol=1e-5)


def test_a_model_takes_them_and_keeps_its_parameters():
    model = torch.nn.Sequential(
        torch.nn.LayerNorm(8), torch.nn.LayerNorm((2, 8)), torch.nn.LayerNorm(8, elementwise_affine=False)
    )
    names = list(model.state_dict())
    use_kernels(model)
    assert [type(module) is LayerNorm for module in model] == [True, False, False]
    assert list(model.state_dict()) == names
    values = torch.randn(3, 2, 8)
    assert torch.equal(model[0](values), torch.nn.functional.layer_norm(values, (8,), *model[0].parameters()))


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
@pytest.mark.parametrize("is_half", [False, True])
def test_on_a_gpu_a_model_computes_by_kernels(is_half, monkeypatch):
    called = []
    computed = layer_norm_triton.layer_norm
    monkeypatch.setattr(layer_norm_triton, "layer_norm", lambda *all_of: called.append(1) or computed(*all_of))
    model = torch.nn.Sequential(torch.nn.LayerNorm(384)).to(DEVICE)
    values = torch.randn(5, 384, device=DEVICE)
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=is_half):
        expected = model(values.bfloat16() if is_half else values)
        use_kernels(model)
        found = model(values.bfloat16() if is_half else values)
    assert called and found.dtype == expected.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
