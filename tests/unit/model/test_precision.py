"""Which machines multiply in half the bits, and who decides."""

import pytest
import torch

from lexigraft.core.errors import SettingError
from lexigraft.model.precision import WHEN, allow_fast_products, fast_precision, has_fast_bf16


@pytest.fixture
def with_units(monkeypatch):
    """A machine with AMX."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True, raising=False)
    monkeypatch.delenv(WHEN, raising=False)


def product():
    with fast_precision(torch.device("cpu")):
        return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


def test_half_the_bits_where_that_is_faster(with_units):
    assert has_fast_bf16() and product() == torch.bfloat16


def test_all_bits_where_they_are_asked_for(with_units, monkeypatch):
    monkeypatch.setenv(WHEN, "full")
    assert not has_fast_bf16() and product() == torch.float32


def test_another_word_is_an_error(with_units, monkeypatch):
    monkeypatch.setenv(WHEN, "half")
    with pytest.raises(SettingError, match="LEXIGRAFT_PRECISION = 'half' is not allowed: auto or full"):
        has_fast_bf16()


@pytest.mark.parametrize(("said", "products"), [("auto", "high"), ("full", "highest")])
def test_products_of_a_gpu_keep_all_bits_where_they_are_asked_for(monkeypatch, said, products):
    asked = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", asked.append)
    monkeypatch.setenv(WHEN, said)
    allow_fast_products(torch.device("cuda"))
    assert asked == [products]
