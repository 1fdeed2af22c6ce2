"""The graph of a model writes what torch writes: every family, head and pooling, and where terms came from."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from lexigraft.core.artifact import Manifest, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.types import Vocabulary
from lexigraft.inference.folder import form_beside, has_form
from lexigraft.inference.graph_network import open_graph
from lexigraft.inference.meta import BY_TABLE, BY_WORDS, LOG1P_TWICE, PLAIN, UNICOIL
from lexigraft.inference.network import NOTHING
from lexigraft.inference.reading import read_documents, read_queries
from lexigraft.model import graph_files, graph_head, inference_form
from lexigraft.model.backbone import load_backbone
from lexigraft.model.encoder import FORMAT_VERSION, KIND, SparseEncoder, open_encoder, save_encoder
from lexigraft.model.graph_bert import can_write
from lexigraft.model.head import SparseHead
from lexigraft.model.impact import ImpactHead
from lexigraft.model.inference_form import make_form
from lexigraft.model.plain import plain_head
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vocab.lookup import own_terms_table
from tests.families import FAMILIES, STEMS, write_backbone
from tests.fuzz.crafting import fit_checksums

TEXTS = ["kura mel, tose?", "bru", "", "the kur of the mel and the zan", "melmel fod gix vip kur kur", "the", "?!"]
TERMS = Vocabulary([*STEMS, "the", "of", "kurmel", "fodgix", *(f"{stem}a" for stem in STEMS)])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {family: write_backbone(family, tmp_path_factory.mktemp(family), loud=20.0) for family in FAMILIES}


def grafted(folder, own=True):
    """A head over words that knows nothing, and says much."""
    backbone = load_backbone(str(folder))
    draw = torch.Generator().manual_seed(5)
    rows = torch.empty(len(TERMS), backbone.width).normal_(0, 0.5, generator=draw)
    bias = torch.empty(len(TERMS)).normal_(0, 0.5, generator=draw)
    amounts = torch.empty(len(TERMS)).uniform_(0, 2, generator=draw) if own else None
    return SparseEncoder(backbone, SparseHead(rows, bias, amounts), TERMS, "grafted", "none", "english", 4.0)


def plain(folder):
    backbone = load_backbone(str(folder))
    return SparseEncoder(backbone, plain_head(backbone), backbone.subwords(), PLAIN)


def saved(encoder, path, **meta):
    encoder.meta = replace(encoder.meta, query_length=9, document_length=14, **meta)
    with write_artifact(path, Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    return path


def assert_writes_as_torch(path, tolerance=1e-5):
    """Both forms of the model at `path` write the same weights for queries and documents, and name the same tokens."""
    make_form(path)
    ours, theirs = open_graph(path, 32), TorchNetwork(open_encoder(path), exact=True)
    assert ours.meta == theirs.meta
    n_terms = ours.meta.n_terms
    assert ours.special == theirs.special and ours.not_terms == theirs.not_terms
    for are_queries in (True, False):
        reads = [
            read_queries(one.reader, TEXTS, 9) if are_queries else read_documents(one.meta, one.reader, TEXTS, 14)
            for one in (ours, theirs)
        ]
        for left, right in zip(reads[0].aligned, reads[1].aligned, strict=True):
            assert np.array_equal(left, right)
        found, expected = (
            dense(one.write(read, are_queries), n_terms) for one, read in zip((ours, theirs), reads, strict=True)
        )
        assert found.shape == expected.shape == (len(TEXTS), n_terms)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1.1e-4)  # what is left out of a row
    assert (expected > 0).sum() > len(TEXTS)  # there is something to compare
    for text in TEXTS:
        read = read_documents(ours.meta, ours.reader, [text], 14)
        asked = np.arange(n_terms, dtype=np.int32)
        where = ours.positions(read, asked)
        assert np.array_equal(where, theirs.positions(read, asked))
        weights = dense(theirs.write(read, are_queries=False), n_terms)[0]
        assert (where[weights > 0] != NOTHING).all()
    return ours


def dense(rows, n_terms):
    made = np.zeros((len(rows.indptr) - 1, n_terms))
    for row, (start, end) in enumerate(zip(rows.indptr, rows.indptr[1:], strict=False)):
        assert (np.diff(rows.terms[start:end]) > 0).all()
        made[row, rows.terms[start:end]] = rows.weights[start:end]
    return made


EXPORTED = [family for family in FAMILIES if family not in ("bert", "roberta")]  # takes seconds each
SLOW = [pytest.param(family, marks=pytest.mark.integration) for family in EXPORTED[1:]]


@pytest.mark.parametrize("family", ["bert", "roberta", EXPORTED[0], *SLOW])
def test_every_family(family, folders, tmp_path):
    assert can_write(load_backbone(str(folders[family])).body) == (family in ("bert", "roberta"))
    assert_writes_as_torch(saved(plain(folders[family]), tmp_path / "model", pooled="all"))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("pooling", ["max", "sum", "cls"])
@pytest.mark.parametrize("pooled", ["words", "all"])
def test_words_that_are_pooled(pooling, pooled, own, folders, tmp_path):
    assert_writes_as_torch(saved(grafted(folders["bert"], own), tmp_path / "model", pooling=pooling, pooled=pooled))


@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_twice_the_logarithm(pooling, folders, tmp_path):
    encoder = grafted(folders["roberta"])
    assert_writes_as_torch(saved(encoder, tmp_path / "model", pooling=pooling, activation=LOG1P_TWICE))


def test_impacts(folders, tmp_path):
    backbone = load_backbone(str(folders["bert"]))
    head = ImpactHead(torch.linspace(-0.2, 0.3, backbone.width)[None], torch.full((1,), 0.1), backbone.is_term())
    assert_writes_as_torch(saved(SparseEncoder(backbone, head, backbone.subwords(), UNICOIL), tmp_path / "model"))


@pytest.mark.parametrize("queries", [BY_WORDS, BY_TABLE])
def test_queries_without_a_model(queries, folders, tmp_path):
    encoder = grafted(folders["bert"])
    if queries == BY_TABLE:
        encoder.set_table(own_terms_table(np.linspace(0.5, 3, len(TERMS))))
    assert_writes_as_torch(saved(encoder, tmp_path / "model", queries=queries))


def test_a_vocabulary_of_many_tiles(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(graph_head, "TILE", 5)
    assert_writes_as_torch(saved(grafted(folders["bert"]), tmp_path / "model"))
    monkeypatch.setattr(graph_head, "TILE", 7)
    monkeypatch.setattr(graph_files, "SMALLEST", 20)  # so that biases of a tile go into the file, too
    assert_writes_as_torch(saved(grafted(folders["bert"]), tmp_path / "summing", pooling="sum"))


def test_eight_bits_are_near_and_do_not_depend_on_the_batch(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    notes = read_manifest(make_form(path)).notes["largest_difference"]
    network = open_graph(path, 8)
    assert "MatMulNBits" in (form_beside(path) / "graph8.onnx").read_bytes().decode("latin-1")
    read = read_documents(network.meta, network.reader, TEXTS, 14)
    together = dense(network.write(read, are_queries=False), len(TERMS))
    for row, text in enumerate(TEXTS):
        alone = network.write(read_documents(network.meta, network.reader, [text], 14), are_queries=False)
        assert np.array_equal(dense(alone, len(TERMS))[0], together[row])
    exact = dense(open_graph(path, 32).write(read, are_queries=False), len(TERMS))
    assert 0 < np.abs(exact - together).max() < exact.max() / 10
    assert 0 <= notes["32"] < 1e-3 < notes["8"] < exact.max() / 4  # of texts that are drawn, by a loud network


def test_threads_change_nothing(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    make_form(path)
    texts = [" ".join(np.random.default_rng(seed).choice(STEMS, 1 + seed % 12)) for seed in range(300)]
    found = []
    for threads in (1, 4):
        network = open_graph(path, 8, threads=threads)
        found.append(network.write(read_documents(network.meta, network.reader, texts, 14), are_queries=False))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_a_form_is_of_one_model(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    assert not has_form(path)
    make_form(path)
    assert has_form(path)
    saved(grafted(folders["bert"], own=False), path)
    assert not has_form(path)


def test_a_graph_that_writes_something_else_is_not_kept(folders, tmp_path, monkeypatch):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    real = inference_form.append_head

    def wrong(model, encoder):
        real(model, encoder)
        bias = next(array for array in model.graph.initializer if array.name == "bias")
        bias.raw_data = (np.frombuffer(bias.raw_data, np.float32) + 1).astype(np.float32).tobytes()

    monkeypatch.setattr(inference_form, "append_head", wrong)
    with pytest.raises(ArtifactError, match="writes other weights than torch"):
        make_form(path)
    assert not form_beside(path).exists()


def test_eight_bits_that_write_something_else_are_not_kept(folders, tmp_path, monkeypatch):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    monkeypatch.setattr(inference_form, "FAR", 1e-6)
    made = make_form(path)
    assert not (made / "graph8.onnx").exists()
    read = read_documents(open_graph(path, 8).meta, open_graph(path, 8).reader, TEXTS, 14)
    for one, other in zip(*(open_graph(path, bits).write(read, are_queries=False) for bits in (8, 32)), strict=True):
        assert np.array_equal(one, other)


def test_a_damaged_form_is_named(folders, tmp_path):
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    weights = make_form(path) / "weights.bin"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(
        ArtifactError,
        match=r"weights\.bin does not match its checksum.*model\.inference: it is made when it is next used",
    ):
        open_graph(path, 8)


@pytest.mark.parametrize("added", [1_000_000, -1_000_000])
def test_a_graph_that_writes_terms_that_there_are_not_is_refused(added, folders, tmp_path):
    """Before, they became vectors that were believed, because they were made here."""
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    file = make_form(path) / "graph.onnx"
    graph = onnx.load(str(file), load_external_data=False)
    for node in graph.graph.node:
        node.output[:] = ["crafted_own" if name == "terms" else name for name in node.output]
    number = onnx.helper.make_node("Constant", [], ["crafted_added"], value_int=added)
    graph.graph.node.extend([number, onnx.helper.make_node("Add", ["crafted_own", "crafted_added"], ["terms"])])
    file.write_bytes(graph.SerializeToString())
    fit_checksums(file.parent, file.name)
    network = open_graph(path, 32)
    read = read_documents(network.meta, network.reader, TEXTS, 14)
    with pytest.raises(ArtifactError, match=r"graph\.onnx gives no rows of its .* terms"):
        network.write(read, are_queries=False)


def test_a_graph_that_cannot_be_opened_is_named_by_its_path(folders, tmp_path):
    """Before, the library's words had the way through a descriptor, cut in its middle."""
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    file = make_form(path) / "graph.onnx"
    graph = onnx.load(str(file), load_external_data=False)
    graph.graph.node.append(graph.graph.node[0])  # which makes the same once more
    file.write_bytes(graph.SerializeToString())
    fit_checksums(file.parent, file.name)
    with pytest.raises(ArtifactError, match=r"model\.inference/graph\.onnx cannot be opened") as refused:
        open_graph(path, 32)
    assert "/proc" not in str(refused.value)


def test_the_documented_interface(folders, tmp_path):
    """What `inference.folder` says of the graph, used without anything of ours."""
    path = saved(grafted(folders["bert"]), tmp_path / "model")
    session = onnxruntime.InferenceSession(str(make_form(path) / "graph.onnx"), providers=["CPUExecutionProvider"])
    inputs = {item.name: item.shape for item in session.get_inputs()}
    assert set(inputs) == {"subwords", "places", "own_texts", "own_terms", "own_weights"}
    assert {item.name for item in session.get_outputs()} == {"hidden", "texts", "terms", "weights"}
    feed = {
        "subwords": np.array([[2, 9, 8, 3]]), "places": np.array([[1, 2]]), "own_texts": np.array([0]),
        "own_terms": np.array([3]), "own_weights": np.array([1.0], np.float32),
    }  # fmt: skip
    hidden, texts, terms, weights = session.run(["hidden", "texts", "terms", "weights"], feed)
    assert hidden.shape[:2] == (1, 4) and len(texts) == len(terms) == len(weights) > 0
    encoder = open_encoder(path)
    logits = torch.from_numpy(hidden[0, 1:3]) @ encoder.head.weight.T + encoder.head.bias
    best = logits.amax(0)
    best[3] += encoder.head.own[3]
    np.testing.assert_allclose(torch.log1p(best[terms]).detach().numpy(), weights, rtol=1e-5)
