"""Whose products the head uses: those of kernels where they can run, torch's where they cannot, and it says so.
Triton's interpreter stands in for a GPU."""

from types import SimpleNamespace

import pytest
from torch.utils.checkpoint import checkpoint

from lexigraft.core.errors import SettingError
from lexigraft.model import cross_entropy_triton, kernels, layer_norm_triton, pool
from tests.triton_kernels import DEVICE, torch
from tests.triton_kernels import kernels as module

pytestmark = pytest.mark.skipif(DEVICE == "cuda", reason="where there is a GPU, kernels run on no CPU")
OPERAND = SimpleNamespace(is_cuda=True, dtype=torch.bfloat16, device=torch.device("cpu"))


@pytest.fixture(autouse=True)
def untried(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    kernels._tried.cache_clear()
    yield
    kernels._tried.cache_clear()


def test_on_a_cpu_there_are_none():
    assert kernels.kernels_for(torch.ones(1)) is None


def test_they_are_tried_once_and_used(monkeypatch, caplog):
    assert kernels.kernels_for(OPERAND) is module and not caplog.records
    monkeypatch.setattr(module, "max_over_tokens", None)
    assert kernels.kernels_for(OPERAND) is module


def test_in_inference_mode_too():
    with torch.inference_mode():
        assert kernels.kernels_for(OPERAND) is module


def test_within_a_checkpoint_too(caplog):
    """Their gradients are tried, and a checkpoint computes again what a backward pass asks for."""
    weight = torch.full((3,), 2.0, requires_grad=True)

    def forward(given):
        found = (given * weight).exp()
        assert kernels.kernels_for(OPERAND) is module
        return (found * weight).sum()

    checkpoint(forward, torch.ones(3), use_reentrant=False).backward()
    assert torch.allclose(weight.grad, torch.full((3,), 3.0) * torch.tensor(2.0).exp())  # d(w exp(w)) = (1 + w) exp(w)
    assert not caplog.records


def test_precisions_that_they_do_not_multiply():
    assert kernels.kernels_for(SimpleNamespace(is_cuda=True, dtype=torch.float64, device=OPERAND.device)) is None


def test_on_another_device_than_the_current_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert kernels.kernels_for(SimpleNamespace(**vars(OPERAND) | {"device": torch.device("cuda:1")})) is None


def fails(*operands):
    raise RuntimeError("no kernel\nof this kind")


@pytest.mark.parametrize(
    ("home", "name", "broken", "said"),
    [
        (module, "max_over_tokens", fails, "(no kernel)"),
        (module, "list_weights", fails, "(no kernel)"),
        (cross_entropy_triton, "write_shares", fails, "(no kernel)"),
        (
            module, "max_over_tokens", lambda *operands: 2 * pool.max_over_tokens_naive(*operands),
            "something else than was asked for",
        ),
        (cross_entropy_triton, "write_shares", lambda *operands: None, "something else than was asked for"),
        (layer_norm_triton, "layer_norm", fails, "(no kernel)"),
        (
            layer_norm_triton, "layer_norm", lambda values, weight, bias, *others: values * weight + bias,
            "something else than was asked for",
        ),
    ],
)  # fmt: skip
def test_where_they_fail_torch_does_and_one_line_says_so(home, name, broken, said, monkeypatch, caplog):
    monkeypatch.setattr(home, name, broken)
    assert kernels.kernels_for(OPERAND) is None and kernels.kernels_for(OPERAND) is None
    (record,) = caplog.records
    assert said in record.message and "slower" in record.message and "\n" not in record.message


def test_without_triton(monkeypatch, caplog):
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: None)
    assert kernels.kernels_for(OPERAND) is None
    assert "triton is not installed" in caplog.text


def test_a_user_may_do_without(monkeypatch):
    monkeypatch.setenv("LEXIGRAFT_HEAD", "torch")
    assert kernels.kernels_for(OPERAND) is None
    monkeypatch.setenv("LEXIGRAFT_HEAD", "tritton")
    with pytest.raises(SettingError, match="LEXIGRAFT_HEAD"):
        kernels.kernels_for(OPERAND)
