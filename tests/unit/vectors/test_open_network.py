"""Which form of a model is opened, and what is said where it is not the one that starts at once."""

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from subprocess import PIPE, Popen

import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidGraph

from lexigraft.core.artifact import read_manifest
from lexigraft.core.errors import ArtifactError, MissingExtraError, MixedVersionsError
from lexigraft.inference.folder import form_beside, has_form
from lexigraft.inference.graph_network import GraphNetwork, open_graph
from lexigraft.model import inference_form, precision
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors import open_network as opening
from lexigraft.vectors.open_network import open_network
from lexigraft.vectors.text_encoder import TextEncoder
from tests.families import write_backbone
from tests.unit.model.test_inference_form import grafted, saved


@pytest.fixture
def model(tmp_path):
    return saved(grafted(write_backbone("bert", tmp_path / "backbone", loud=20.0)), tmp_path / "model")


def without(monkeypatch, *packages):
    usual = opening.importlib.util.find_spec
    monkeypatch.setattr(
        opening.importlib.util, "find_spec", lambda name: None if name in packages else usual(name), raising=True
    )


def test_the_graph_is_made_once(model, caplog):
    caplog.set_level(logging.INFO)
    assert isinstance(open_network(model), GraphNetwork)
    assert "preparing the model" in caplog.text
    made = form_beside(model) / "graph8.onnx"
    before = made.stat().st_mtime_ns
    caplog.clear()
    assert isinstance(open_network(model, 32), GraphNetwork)
    assert caplog.text == ""
    assert made.stat().st_mtime_ns == before


def test_without_onnxruntime_torch_takes_its_place_and_says_so(model, monkeypatch, caplog):
    expected = TextEncoder(open_network(model, 32), are_queries=True).encode(["kur mel"])[0]
    without(monkeypatch, "onnxruntime")
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: False)  # a graph of 32 bits is compared with
    caplog.clear()
    network = open_network(model)
    assert isinstance(network, TorchNetwork)
    (said,) = [record.getMessage() for record in caplog.records]
    assert "run by torch" in said
    assert "onnxruntime is not installed" in said
    assert "[search]" in said
    found = TextEncoder(network, are_queries=True).encode(["kur mel"])[0]
    assert found[0].tolist() == expected[0].tolist()
    assert found[1] == pytest.approx(expected[1], abs=1e-5)


def test_a_model_that_has_its_graph_needs_nothing_that_makes_one(model, monkeypatch):
    open_network(model)
    without(monkeypatch, "torch", "transformers", "onnx", "onnxscript")
    assert isinstance(open_network(model), GraphNetwork)


def test_what_cannot_be_exported_is_run_by_torch(model, monkeypatch, caplog):
    def fail(encoder, folder):
        raise InvalidGraph("no such operator\nand a long story")  # which is no RuntimeError

    monkeypatch.setattr(inference_form, "_write_graphs", fail)
    assert isinstance(open_network(model), TorchNetwork)
    assert "its inference form cannot be made: no such operator" in caplog.text
    assert "long story" not in caplog.text
    assert not has_form(model)
    assert [path.name for path in model.parent.iterdir() if "draft" in path.name] == []


def test_with_neither_it_is_said_what_is_needed(model, monkeypatch):
    without(monkeypatch, "onnxruntime", "torch")
    with pytest.raises(MissingExtraError, match=r"needs the package 'torch'.*onnxruntime is not installed"):
        open_network(model)


@pytest.mark.parametrize("by", ["threads", pytest.param("processes", marks=pytest.mark.integration)])
def test_several_make_it_once(by, model, monkeypatch):
    if by == "threads":
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda _: open_network(model), range(3)))
        assert [type(one).__name__ for one in found] == ["GraphNetwork"] * 3
        return
    code = "import sys; from pathlib import Path; from lexigraft.vectors.open_network import open_network; "
    code += "print(type(open_network(Path(sys.argv[1]))).__name__)"
    started = [Popen([sys.executable, "-c", code, str(model)], stdout=PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in started] == ["GraphNetwork"] * 3
    assert [path.name for path in model.parent.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_model_is_named(model):
    open_network(model)
    (model / "encoder.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"encoder\.json"):
        open_network(model)


def test_another_model_than_the_one_that_is_wanted_is_refused(model):
    """Asked of the very folder that is then read, not of what has its name a moment earlier."""
    wanted = read_manifest(model).fingerprint
    assert isinstance(open_network(model, fingerprint=wanted), GraphNetwork)
    with pytest.raises(MixedVersionsError, match=f"the model at {model} was trained again"):
        open_network(model, fingerprint="0" * 64)


def test_a_form_of_another_model_is_never_taken_for_its_own(model, tmp_path):
    """Between the look whether there is a form and its opening, a writer replaces the model."""
    open_network(model)
    other = saved(grafted(write_backbone("bert", tmp_path / "second", loud=5.0)), tmp_path / "other")
    model.rename(tmp_path / "former")
    other.rename(model)
    with pytest.raises(MixedVersionsError, match=r"model\.inference was not made of the model at"):
        open_graph(model, 8)
    open_network(model)  # makes it anew
    assert has_form(model)
    open_graph(model, 8)
