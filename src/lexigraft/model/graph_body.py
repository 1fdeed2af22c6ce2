"""A backbone as an ONNX graph: token ids of texts of one length to hidden states."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any
from warnings import catch_warnings, simplefilter

import torch
from torch import Tensor, nn

from lexigraft.model.backbone import Body


class _WithoutMask(nn.Module):
    """Texts of one length have no padding, so that nothing is masked."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.model, self.has_mlm_head = body.model, body.has_mlm_head

    def forward(self, subwords: Tensor) -> Tensor:
        output = self.model(input_ids=subwords)
        hidden: Tensor = output.logits if self.has_mlm_head else output.last_hidden_state
        return hidden


def export_body(body: Body, subword: int) -> Any:
    """An `onnx.ModelProto` with the input `subwords` [texts, length] and the output `hidden` [texts, length, width], as
    torch's exporter writes it. `subword` is any ordinary one, for the example that is traced."""
    example = torch.full((2, 7), subword, dtype=torch.long)
    shapes = {"subwords": {0: torch.export.Dim("texts", min=1), 1: torch.export.Dim("length", min=1)}}
    with _quiet():
        program = torch.onnx.export(
            _WithoutMask(body).eval(), (), kwargs={"subwords": example}, input_names=["subwords"],
            output_names=["hidden"], dynamic_shapes=shapes, dynamo=True, verbose=False,
        )  # fmt: skip
    assert program is not None, "the exporter of graphs returns a program"
    model = program.model_proto
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info):
        del part.metadata_props[:]  # where in whose source a node comes from: nine tenths of the file
    del model.graph.value_info[:]
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter reports to programmers of exporters."""
    former = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with catch_warnings(), redirect_stdout(StringIO()):
            simplefilter("ignore")
            yield
    finally:
        logging.disable(former)
