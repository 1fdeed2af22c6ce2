"""Graphs that somebody else made, with right checksums, that open and then fail or give something else: one line."""

import json

import numpy as np
import onnx
import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.dense.opening import ensure_dense_form, open_dense
from lexigraft.inference.dense_meta import embed
from lexigraft.inference.folder import form_beside
from lexigraft.inference.graph_network import open_graph
from lexigraft.inference.reading import read_documents
from lexigraft.model.inference_form import make_form
from tests.families import write_backbone
from tests.fuzz.crafting import fit_checksums
from tests.unit.model.test_dense_encoder import made
from tests.unit.model.test_inference_form import TEXTS, grafted, saved


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crafted")
    path = saved(grafted(write_backbone("bert", folder / "bert", loud=20.0)), folder / "model")
    make_form(path)
    return path


@pytest.fixture
def graph(model):
    """The graph's file, which is afterwards as it was."""
    file = form_beside(model) / "graph.onnx"
    whole = file.read_bytes()
    yield file
    file.write_bytes(whole)
    fit_checksums(file.parent, file.name)


def reshape(file, output, shape):
    """Let a graph give an output in another shape, or fail where it cannot have that."""
    crafted = onnx.load(str(file), load_external_data=False)
    for node in crafted.graph.node:
        node.output[:] = ["crafted_own" if name == output else name for name in node.output]
        node.input[:] = ["crafted_own" if name == output else name for name in node.input]
    for said in crafted.graph.output:
        if said.name == output:
            said.type.tensor_type.ClearField("shape")
    wanted = onnx.helper.make_tensor("crafted_shape", onnx.TensorProto.INT64, [len(shape)], np.array(shape))
    crafted.graph.node.extend([
        onnx.helper.make_node("Constant", [], ["crafted_shape"], value=wanted),
        onnx.helper.make_node("Reshape", ["crafted_own", "crafted_shape"], [output]),
    ])  # fmt: skip
    file.write_bytes(crafted.SerializeToString())
    fit_checksums(file.parent, file.name)


def require_one_line(error, file, says):
    assert str(error).startswith(f"{file} {says}")
    assert "\n" not in str(error) and "/proc/" not in str(error)
    assert str(error).endswith("it is made when it is next used")


@pytest.mark.parametrize(("shape", "says"), [((7, 7919), "cannot be run ("), ((1, -1), "gives no rows of its")])
def test_terms_of_another_shape(model, graph, shape, says):
    reshape(graph, "terms", shape)
    network = open_graph(model, 32)
    with pytest.raises(ArtifactError) as raised:
        network.write(read_documents(network.meta, network.reader, TEXTS, 14), are_queries=False)
    require_one_line(raised.value, graph, says)


@pytest.mark.parametrize(("shape", "says"), [((7, 7919), "cannot be run ("), ((-1,), "gives no state of each")])
def test_states_of_another_shape(model, graph, shape, says):
    reshape(graph, "hidden", shape)
    network = open_graph(model, 32)
    with pytest.raises(ArtifactError) as raised:
        network.positions(read_documents(network.meta, network.reader, TEXTS[:1], 14), np.array([0], np.int32))
    require_one_line(raised.value, graph, says)


@pytest.mark.parametrize(("shape", "says"), [((7, 7919), "cannot be run ("), ((-1, 1), "gives no vector of")])
def test_vectors_of_another_shape(tmp_path, shape, says):
    encoder = made(tmp_path)
    assert ensure_dense_form(encoder) == ""
    file = form_beside(encoder) / "graph.onnx"
    reshape(file, "vectors", shape)
    with pytest.raises(ArtifactError) as raised:
        embed(open_dense(encoder, 32), TEXTS, are_queries=False)
    require_one_line(raised.value, file, says)


@pytest.mark.parametrize("shape", [[], [3], [1, 2, 3]])
def test_a_head_of_another_shape(model, graph, shape):
    facts = graph.parent / "inference.json"
    whole = facts.read_bytes()
    content = json.loads(whole)
    content["head"]["shape"] = shape
    facts.write_text(json.dumps(content))
    fit_checksums(graph.parent, facts.name)
    try:
        with pytest.raises(ArtifactError, match=r"inference\.json gives head a shape of .*which does not fit"):
            open_graph(model, 32)
    finally:
        facts.write_bytes(whole)
        fit_checksums(graph.parent, facts.name)
