"""BERT's and RoBERTa's kind of backbone as an ONNX graph, written node by node.

torch's exporter takes any backbone and some ten seconds (`graph_body`). This takes none, and multiplies the three
projections of a layer as one.
"""

from typing import Any

import torch
from torch import Tensor

from lexigraft.model.backbone import Body
from lexigraft.model.graph_nodes import FLOAT, FUSED, INT64, Nodes, empty_graph

TRANSFORMS = {  # by family: where the masked-language-model head keeps its layer and its normalisation
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm"),
}


def can_write(body: Body) -> bool:
    """Whether a backbone is of a kind that is written here."""
    model: Any = body.model
    config = model.config
    usual = getattr(config, "hidden_act", "") == "gelu" and not getattr(config, "is_decoder", False)
    absolute = getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
    return config.model_type in TRANSFORMS and usual and absolute


def write_bert(body: Body) -> Any:
    """As `graph_body.export_body`, of a backbone that `can_write` is true of."""
    return _Bert(body).written()


class _Bert:
    def __init__(self, body: Body) -> None:
        whole: Any = body.model
        self.config, self.has_mlm_head = whole.config, body.has_mlm_head
        self.all_weights: dict[str, Tensor] = whole.state_dict()
        self.weights: dict[str, Tensor] = whole.base_model.state_dict()
        self.model = empty_graph()
        self.nodes = Nodes(self.model.graph)

    def written(self) -> Any:
        nodes, width = self.nodes, int(self.config.hidden_size)
        subwords = nodes.input("subwords", INT64, ["texts", "length"])
        size = nodes.add("Shape", subwords)
        rectangle = nodes.add("Concat", size, nodes.constant([width]), axis=0)  # [texts, length, width]
        state = nodes.add("Reshape", self._embed(subwords), nodes.constant([-1, width]))
        for number in range(int(self.config.num_hidden_layers)):
            state = self._layer(f"encoder.layer.{number}", state, rectangle)
        if self.has_mlm_head:
            dense, norm = TRANSFORMS[self.config.model_type]
            state = nodes.add("Gelu", self._linear(state, dense, self.all_weights))
            state = self._normalise(state, norm, self.all_weights)
        nodes.add("Reshape", state, rectangle, out="hidden")
        nodes.output("hidden", FLOAT, ["texts", "length", width])
        return self.model

    def _embed(self, subwords: str) -> str:
        nodes, at = self.nodes, "embeddings"
        words = nodes.array("word_embeddings", self.weights[f"{at}.word_embeddings.weight"])
        # The type of every token is the first; what it adds is added to its place.
        kind = self.weights[f"{at}.token_type_embeddings.weight"][0]
        places = nodes.array("position_embeddings", self.weights[f"{at}.position_embeddings.weight"] + kind)
        placed = nodes.add("Gather", places, self._places(subwords))
        found = nodes.add("Add", nodes.add("Gather", words, subwords), placed)
        return self._normalise(found, f"{at}.LayerNorm", self.weights)

    def _places(self, subwords: str) -> str:
        """The position of each token. RoBERTa counts from the padding's id, and gives that to padding."""
        nodes = self.nodes
        if self.config.model_type == "roberta":
            pad = nodes.constant(int(self.config.pad_token_id))
            said = nodes.add("Cast", nodes.add("Not", nodes.add("Equal", subwords, pad)), to=INT64)
            counted = nodes.add("CumSum", said, nodes.constant(1))
            return nodes.add("Add", nodes.add("Mul", counted, said), pad)
        length = nodes.add("Gather", nodes.add("Shape", subwords), nodes.constant(1), axis=0)
        return nodes.add("Range", nodes.constant(0), length, nodes.constant(1))

    def _layer(self, at: str, state: str, rectangle: str) -> str:
        nodes, projections = self.nodes, ("query", "key", "value")
        names = [f"{at}.attention.self.{name}" for name in projections]
        joined = {
            f"{at}.projections.{part}": torch.cat([self.weights[f"{name}.{part}"] for name in names])
            for part in ("weight", "bias")
        }
        three = self._linear(state, f"{at}.projections", joined)
        parts = [f"{at}.{name}" for name in projections]
        nodes.add("Split", three, axis=1, num_outputs=3)
        nodes.graph.node[-1].output[:] = parts
        heads = int(self.config.num_attention_heads)
        shaped = [nodes.add("Reshape", part, rectangle) for part in parts]
        looked = nodes.add("MultiHeadAttention", *shaped, domain=FUSED, num_heads=heads)
        looked = nodes.add("Reshape", looked, nodes.constant([-1, int(self.config.hidden_size)]))
        seen = self._linear(looked, f"{at}.attention.output.dense", self.weights)
        state = self._normalise(nodes.add("Add", seen, state), f"{at}.attention.output.LayerNorm", self.weights)
        wide = nodes.add("Gelu", self._linear(state, f"{at}.intermediate.dense", self.weights))
        back = self._linear(wide, f"{at}.output.dense", self.weights)
        return self._normalise(nodes.add("Add", back, state), f"{at}.output.LayerNorm", self.weights)

    def _linear(self, state: str, name: str, weights: dict[str, Tensor]) -> str:
        weight, bias = (self.nodes.array(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.nodes.add("Gemm", state, weight, bias, transB=1)

    def _normalise(self, state: str, name: str, weights: dict[str, Tensor]) -> str:
        scale, shift = (self.nodes.array(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.nodes.add("LayerNormalization", state, scale, shift, epsilon=float(self.config.layer_norm_eps))
