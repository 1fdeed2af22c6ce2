"""Whose products the head uses: those of kernels where they can run, torch's where they cannot, and it says so."""

import sys
from types import SimpleNamespace

import pytest
import torch

from lexigraft.core.errors import SettingError
from lexigraft.model import kernels, pool

CUDA = SimpleNamespace(is_cuda=True, dtype=torch.bfloat16, device=torch.device("cpu"))


@pytest.fixture(autouse=True)
def untried():
    kernels._tried.cache_clear()
    yield
    kernels._tried.cache_clear()


@pytest.fixture
def module(monkeypatch):
    """Stands where the kernels are."""

    def max_over_tokens(hidden, mask, weight, bias):
        return pool.max_over_tokens_naive(hidden, mask, weight, bias)

    module = SimpleNamespace(max_over_tokens=max_over_tokens)
    monkeypatch.setitem(sys.modules, "lexigraft.model.pool_triton", module)
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    return module


def test_on_a_cpu_there_are_none():
    assert kernels.kernels_for(torch.ones(1)) is None


def test_they_are_tried_once_and_used(module, caplog):
    assert kernels.kernels_for(CUDA) is module and not caplog.records
    module.max_over_tokens = None
    assert kernels.kernels_for(CUDA) is module


def test_in_inference_mode_too(module):
    with torch.inference_mode():
        assert kernels.kernels_for(CUDA) is module


def test_precisions_that_they_do_not_multiply(module):
    assert kernels.kernels_for(SimpleNamespace(is_cuda=True, dtype=torch.float64, device=CUDA.device)) is None


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda *operands: 1 / 0, "division by zero"),
        (lambda *operands: 2 * pool.max_over_tokens_naive(*operands), "something else than was asked for"),
    ],
)
def test_where_they_fail_torch_does_and_one_line_says_so(module, caplog, broken, said):
    module.max_over_tokens = broken
    assert kernels.kernels_for(CUDA) is None and kernels.kernels_for(CUDA) is None
    (record,) = caplog.records
    assert said in record.message and "slower" in record.message and "\n" not in record.message


def test_without_triton(module, monkeypatch, caplog):
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda name: None)
    assert kernels.kernels_for(CUDA) is None
    assert "triton is not installed" in caplog.text


def test_a_user_may_do_without(module, monkeypatch):
    monkeypatch.setenv("LEXIGRAFT_HEAD", "torch")
    assert kernels.kernels_for(CUDA) is None
    monkeypatch.setenv("LEXIGRAFT_HEAD", "tritton")
    with pytest.raises(SettingError, match="LEXIGRAFT_HEAD"):
        kernels.kernels_for(CUDA)
