"""Nodes of an ONNX graph, appended one by one."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor

FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
OPSET, IR_VERSION = 20, 10
FUSED = "com.microsoft"  # onnxruntime's own operators


class Nodes:
    """A graph that grows: nodes, and constants that they need. Whoever adds a node gets the name of its output."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def add(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        name = out or f"{kind}.{len(self.graph.node)}"
        self.graph.node.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any, kind: Any = np.int64) -> str:
        return self.array(f"constant.{len(self.graph.initializer)}", np.array(values, kind))

    def array(self, name: str, values: NDArray[Any] | Tensor) -> str:
        if isinstance(values, Tensor):
            values = values.detach().float().numpy()
        self.graph.initializer.append(numpy_helper.from_array(np.array(values, order="C"), name))
        return name

    def input(self, name: str, kind: int, shape: list[str]) -> str:
        self.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: list[Any]) -> None:
        self.graph.output.append(helper.make_tensor_value_info(name, kind, shape))


def empty_graph() -> Any:
    """A model without a node."""
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(helper.make_graph([], "encoder", [], []), opset_imports=opsets, ir_version=IR_VERSION)
