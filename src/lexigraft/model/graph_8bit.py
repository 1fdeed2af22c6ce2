"""Matrices of 8 bits in a graph: a quarter of the bytes to read, and products of integers.

Of a matrix's column, blocks of up to 128 numbers share a scale, so that the largest is 127. onnxruntime does the same
to the other side while it multiplies, block by block of each token: what a text becomes does not depend on what else
is in its batch.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from lexigraft.model.graph_nodes import FUSED

BLOCKS = (128, 64, 32, 16)  # the first that divides a matrix's height is taken
ZERO = 128  # bytes have no sign: this one is 0
INTEGER_PRODUCTS = 4  # the "accuracy level" at which both sides are integers


def quantise(rows: NDArray[np.float32], block: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """(bytes [rows, blocks, block], scales [rows, blocks]) of a matrix [rows, blocks * block]."""
    parts = rows.reshape(len(rows), -1, block)
    scales = np.abs(parts).max(axis=2) / 127
    steps = np.where(scales > 0, scales, 1)[:, :, None]
    return (np.rint(parts / steps) + ZERO).astype(np.uint8), scales.astype(np.float32)


def block_for(height: int) -> int | None:
    """How many numbers of a column share a scale; None where a matrix stays as it is."""
    return next((block for block in BLOCKS if height % block == 0), None)


def with_8_bits(model: Any) -> Any:
    """A copy of a graph whose products with constant matrices are of 8 bits; a matrix that no product needs is gone."""
    made = type(model)()
    made.CopyFrom(model)
    graph = made.graph
    arrays = {array.name: array for array in graph.initializer}
    nodes = [new for node in graph.node for new in _replaced(node, arrays, graph)]
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [array for array in graph.initializer if array.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    if all(entry.domain != FUSED for entry in made.opset_import):
        made.opset_import.append(helper.make_opsetid(FUSED, 1))
    return made


def _replaced(node: Any, arrays: dict[str, Any], graph: Any) -> list[Any]:
    """The nodes in the place of one: a product by a matrix of 8 bits, and what is added to it."""
    found = _constant_rows(node, arrays)
    if found is None or (block := block_for(found.shape[1])) is None:
        return [node]
    bytes_, scales = quantise(found, block)
    name = node.input[1]
    if f"{name}.8bit" not in arrays:
        for part, values in ((f"{name}.8bit", bytes_), (f"{name}.scales", scales.reshape(-1))):
            arrays[part] = numpy_helper.from_array(values, part)
            graph.initializer.append(arrays[part])
    bias = node.input[2] if len(node.input) > 2 else ""
    out = f"{node.output[0]}.product" if bias else node.output[0]
    product = helper.make_node(
        "MatMulNBits", [node.input[0], f"{name}.8bit", f"{name}.scales"], [out], domain=FUSED, K=found.shape[1],
        N=found.shape[0], bits=8, block_size=block, accuracy_level=INTEGER_PRODUCTS,
    )  # fmt: skip
    return [product, helper.make_node("Add", [out, bias], [node.output[0]])] if bias else [product]


def _constant_rows(node: Any, arrays: dict[str, Any]) -> NDArray[np.float32] | None:
    """The matrix [outputs, inputs] of a product by a constant one; None of any other node."""
    if node.op_type not in ("MatMul", "Gemm") or node.input[1] not in arrays:
        return None
    matrix = numpy_helper.to_array(arrays[node.input[1]])
    if matrix.ndim != 2 or matrix.dtype != np.float32 or len(matrix) == 1:
        return None
    if node.op_type == "MatMul":
        return np.ascontiguousarray(matrix.T)
    settings = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
    if settings.pop("transB", 0) != 1 or any(settings.get(key, 1) != 1 for key in ("alpha", "beta")):
        return None
    return None if settings.get("transA", 0) else matrix
