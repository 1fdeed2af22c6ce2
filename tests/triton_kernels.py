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


def _reduce_rows_at_once() -> None:
    """The interpreter calls the function of a reduction for one number after the other, which was nearly all the time
    of these tests. Here it is called for all numbers at one place of the axis, in the same order."""
    from triton.runtime.interpreter import ReduceOps

    def generic_reduce(self: Any, given: Any) -> list[Any]:
        parts, axis = self.unravel(given, self.axis)
        rows = [[self.to_tensor(row, part.dtype) for row in np.moveaxis(part.handle.data, axis, 0)] for part in parts]
        done, *others = zip(*rows, strict=True)
        for row in others:
            found = self.combine_fn.fn(*done, *row)
            done = found if isinstance(found, tuple) else (found,)
        whole = [np.broadcast_to(one.handle.data, part.handle.data.shape[:axis] + part.handle.data.shape[axis + 1 :])
                 for one, part in zip(done, parts, strict=True)]  # fmt: skip
        if self.keep_dims:
            whole = [np.expand_dims(one, axis) for one in whole]
        return [self.to_tensor(one, part.dtype) for one, part in zip(whole, parts, strict=True)]

    ReduceOps.generic_reduce = generic_reduce


if DEVICE == "cpu":
    _multiply_bfloat16()
    _reduce_rows_at_once()

from lexigraft.model import pool_triton as kernels  # noqa: E402
from lexigraft.model.pool_triton import nonzeros  # noqa: E402
from lexigraft.model.pool_triton.nonzeros import find_nonzeros  # noqa: E402
from lexigraft.model.pool_triton.weights import term_weights  # noqa: E402

__all__ = ["DEVICE", "find_nonzeros", "kernels", "nonzeros", "term_weights", "torch"]
