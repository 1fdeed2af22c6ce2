"""The head and the pooling as nodes of an ONNX graph, behind the hidden states of `graph_body`.

Only tokens that are pooled are multiplied, the vocabulary in tiles: of a tile's logits only their maxima, or sums, over
the tokens of a text stay. What leaves the graph are the terms that weigh something.
"""

from typing import Any

import numpy as np
from onnx import helper

from lexigraft.inference.meta import LOG1P_TWICE, SUM
from lexigraft.inference.network import SMALLEST_WEIGHT
from lexigraft.inference.saturation import smallest_logit
from lexigraft.model.encoder import SparseEncoder
from lexigraft.model.graph_nodes import FLOAT, INT64, Nodes
from lexigraft.model.impact import ImpactHead

TILE = 4096  # terms whose logits exist at a time
HEAD, BIAS, OWN = "head", "bias", "own"  # names of the stored arrays; tile i of the head is called head.i


def append_head(model: Any, encoder: SparseEncoder) -> None:
    """Let the graph of `model`, which has `subwords` and `hidden`, write terms as `encoder` does."""
    nodes, head = Nodes(model.graph), encoder.head
    places = nodes.input("places", INT64, ["texts", "most"])
    picked = nodes.add("GatherND", "hidden", nodes.add("Unsqueeze", places, nodes.constant([-1])), batch_dims=1)
    flat = nodes.add("Reshape", picked, nodes.constant([-1, encoder.backbone.width]))
    if isinstance(head, ImpactHead):
        found, is_weight = _impacts(nodes, flat, places, head, len(encoder.vocabulary)), True
    else:
        found, is_weight = _over_tokens(nodes, flat, places, encoder)
    _entries(nodes, found, is_weight, encoder.meta.activation)


def _over_tokens(nodes: Nodes, flat: str, places: str, encoder: SparseEncoder) -> tuple[str, bool]:
    """(the largest logit, or the sum of weights, of each term of each text [texts, terms]; whether it is a weight)."""
    head, activation, is_sum = encoder.head, encoder.meta.activation, encoder.meta.pooling == SUM
    rows, biases = head.weight.detach().float().numpy(), head.bias.detach().float().numpy()
    nodes.array(BIAS, biases)
    is_there = ""
    if is_sum:
        said = nodes.input("is_there", FLOAT, ["texts", "most"])
        is_there = nodes.add("Unsqueeze", said, nodes.constant([-1]))
    size, axis = nodes.add("Shape", places), nodes.constant([1])
    tiles, starts = [], range(0, len(rows), TILE)
    # All before any other array: they must lie side by side (`graph_files`).
    parts = [nodes.array(f"{HEAD}.{number}", rows[start : start + TILE]) for number, start in enumerate(starts)]
    for part, start in zip(parts, starts, strict=True):
        logits = nodes.add("Gemm", flat, part, transB=1)
        n_terms = len(rows[start : start + TILE])
        shape = nodes.add("Concat", size, nodes.constant([n_terms]), axis=0)
        logits = nodes.add("Reshape", logits, shape)
        if is_sum:
            bias = nodes.constant(biases[start : start + TILE], np.float32)
            weights = _saturate(nodes, nodes.add("Add", logits, bias), activation)
            tiles.append(nodes.add("ReduceSum", nodes.add("Mul", weights, is_there), axis, keepdims=0))
        else:
            tiles.append(nodes.add("ReduceMax", logits, axis, keepdims=0))
    found = tiles[0] if len(tiles) == 1 else nodes.add("Concat", *tiles, axis=1)
    if not is_sum:
        found = nodes.add("Add", found, BIAS)
    return _with_own_words(nodes, found, encoder, is_sum), is_sum


def _with_own_words(nodes: Nodes, found: str, encoder: SparseEncoder, is_sum: bool) -> str:
    """What a text's own words add: to logits, or as one token more to sums."""
    if encoder.head.own is None:
        return found
    nodes.array(OWN, encoder.head.own)
    texts, terms = (nodes.input(name, INT64, ["own"]) for name in ("own_texts", "own_terms"))
    weights = nodes.input("own_weights", FLOAT, ["own"])
    added = nodes.add("Mul", nodes.add("Gather", OWN, terms), weights)
    if is_sum:
        added = _saturate(nodes, added, encoder.meta.activation)
    last = nodes.constant([-1])
    at = nodes.add("Concat", nodes.add("Unsqueeze", texts, last), nodes.add("Unsqueeze", terms, last), axis=1)
    return nodes.add("ScatterND", found, at, added, reduction="add")


def _impacts(nodes: Nodes, flat: str, places: str, head: ImpactHead, n_terms: int) -> str:
    """Of each term the largest impact of the places where it stands [texts, terms]."""
    row, bias = nodes.array(f"{HEAD}.0", head.weight), nodes.array(BIAS, head.bias)
    impacts = nodes.add("Relu", nodes.add("Gemm", flat, row, bias, transB=1))
    size = nodes.add("Shape", places)
    impacts = nodes.add("Reshape", impacts, size)
    n_texts = nodes.add("Gather", size, nodes.constant(0), axis=0)
    texts = nodes.add("Range", nodes.constant(0), n_texts, nodes.constant(1))
    texts = nodes.add("Expand", nodes.add("Unsqueeze", texts, nodes.constant([1])), size)
    terms, last = nodes.add("GatherElements", "subwords", places, axis=1), nodes.constant([-1])
    at = nodes.add("Concat", nodes.add("Unsqueeze", texts, last), nodes.add("Unsqueeze", terms, last), axis=2)
    one = nodes.constant([0])
    shape = nodes.add("Concat", nodes.add("Unsqueeze", n_texts, one), nodes.constant([n_terms]), axis=0)
    empty = nodes.add("ConstantOfShape", shape, value=helper.make_tensor("zero", FLOAT, [1], [0.0]))
    return nodes.add("ScatterND", empty, at, impacts, reduction="max")


def _entries(nodes: Nodes, found: str, is_weight: bool, activation: str) -> None:
    """The outputs: what weighs more than SMALLEST_WEIGHT. Logarithms are taken of these alone."""
    smallest = SMALLEST_WEIGHT if is_weight else smallest_logit(SMALLEST_WEIGHT, activation)
    there = nodes.add("NonZero", nodes.add("Greater", found, nodes.constant(smallest, np.float32)))
    at = nodes.add("Transpose", there, perm=[1, 0])
    for name, row in (("texts", 0), ("terms", 1)):
        nodes.add("Gather", there, nodes.constant(row), axis=0, out=name)
        nodes.output(name, INT64, ["entries"])
    values = nodes.add("GatherND", found, at)
    if not is_weight:
        values = _saturate(nodes, values, activation)
    nodes.add("Identity", values, out="weights")
    nodes.output("weights", FLOAT, ["entries"])


def _saturate(nodes: Nodes, values: str, activation: str) -> str:
    one = nodes.constant(1, np.float32)
    values = nodes.add("Log", nodes.add("Add", nodes.add("Relu", values), one))
    return nodes.add("Log", nodes.add("Add", values, one)) if activation == LOG1P_TWICE else values
