"""The kernels of a GPU, for tests: on one where there is one, else by Triton's interpreter on the CPU.

pytest --noconftest -p no:cacheprovider tests/unit/model/test_pool_triton.py    on a machine with a GPU
"""

import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="its interpreter runs the kernels where there is no GPU")


def _multiply_bfloat16() -> None:
    """Before version 3.9 the interpreter multiplies the bits of bfloat16, not the numbers that they say."""
    import triton.language as tl
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    product: Any = InterpreterBuilder.create_dot

    def create_dot(self: Any, left: Any, right: Any, *others: Any) -> Any:
        return product(self, _widened(left), _widened(right), *others)

    def _widened(part: Any) -> Any:
        if part.dtype.scalar != tl.bfloat16 or part.data.dtype != np.uint16:
            return part
        return TensorHandle((part.data.astype(np.uint32) << 16).view(np.float32), tl.float32)

    InterpreterBuilder.create_dot = create_dot


if DEVICE == "cpu":
    _multiply_bfloat16()

from lexigraft.model import pool_triton as kernels  # noqa: E402
from lexigraft.model.pool_triton import nonzeros  # noqa: E402
from lexigraft.model.pool_triton.nonzeros import find_nonzeros  # noqa: E402
from lexigraft.model.pool_triton.weights import term_weights  # noqa: E402

__all__ = ["DEVICE", "find_nonzeros", "kernels", "nonzeros", "term_weights", "torch"]
