"""Queries that a learned table writes: trained, searched without torch and explained, by the commands."""

import json
import subprocess
import sys

import numpy as np
import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.model.encoder import open_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.train.loop import Loop
from lexigraft.vectors.model_queries import ModelQueryEncoder
from lexigraft.vocab.lexicon import open_lexicon
from lexigraft.vocab.lookup import own_terms_table, read_table
from tests.e2e.test_heads import collection, options  # noqa: F401
from tests.e2e.test_query_sides import ONE_THREAD, QUERIES, SEARCH, backbone, made, opened  # noqa: F401
from tests.killed import Killed

TABLE = (
    "model.queries=table", "finetune.steps=6", "finetune.learning_rate=0.003", "finetune.validate_every=2",
    "finetune.checkpoint_every=2",
)  # fmt: skip
FILES = ("model.safetensors", "history.json", "table_indptr.npy", "table_terms.npy", "table_weights.npy")


@pytest.fixture(scope="module", params=["grafted", "plain"])
def table_run(request, backbone, collection, tmp_path_factory):  # noqa: F811
    out = tmp_path_factory.mktemp("table") / "run"
    return made(collection, backbone, out, f"model.head={request.param}", *TABLE)


def test_its_weights_are_learned(table_run):
    learned = read_table(table_run / "model/finetuned")
    begun = own_terms_table(open_lexicon(table_run / "model/vocabulary").idf)
    assert (learned.indptr.tolist(), learned.terms.tolist()) == (begun.indptr.tolist(), begun.terms.tolist())
    moved = np.abs(learned.weights / begun.weights - 1) > 0.01
    assert moved.any()
    assert not moved.all()  # a term of no training query stays as it was
    assert (learned.weights > 0).all()
    facts = json.loads((table_run / "model/finetuned/encoder.json").read_text())
    assert (facts["queries"], facts["query_terms"]) == ("table", 0)


def test_queries_are_those_that_training_saw(table_run):
    index, encoder = opened(table_run)
    learned = open_encoder(table_run / "model/finetuned")
    for text, (terms, weights) in zip(
        QUERIES, ModelQueryEncoder(TorchNetwork(learned)).encode_all(QUERIES), strict=True
    ):
        found_terms, found_weights = encoder.encode(text)
        assert found_terms.tolist() == terms.tolist() == encoder.own_terms(text).tolist()
        np.testing.assert_allclose(found_weights, weights, rtol=1e-6)
    assert len(encoder.encode("kura, kure kura?")[0]) >= 2
    assert [[part.tolist() for part in row] for row in encoder.encode_all(QUERIES)] == [
        [part.tolist() for part in encoder.encode(text)] for text in QUERIES
    ]
    assert index.vocabulary.fingerprint == learned.meta.vocab_fingerprint


def test_a_saved_table_is_opened_as_it_was(table_run):
    learned = open_encoder(table_run / "model/finetuned")
    for opened_array, stored in zip(learned.table.rows(), read_table(table_run / "model/finetuned"), strict=True):
        np.testing.assert_allclose(opened_array, stored, rtol=1e-6)
    assert not any("table" in name for name in learned.state_dict() if name != "table.log_weights")


def test_search_never_imports_torch(table_run):
    call = [sys.executable, "-c", SEARCH, "search", "--run", str(table_run), "kura kure", "--k", "3", "--json"]
    answer = subprocess.run(call, capture_output=True, text=True, check=True, env=ONE_THREAD)
    assert "imported: []" in answer.stderr
    assert len(json.loads(answer.stdout)["hits"]) == 3


def test_results_are_explained(table_run, lexigraft):
    hits = lexigraft("search", "--run", table_run, "kura kure", "--k", 5, "--json").json["hits"]
    why = lexigraft("explain", "--run", table_run, "kura kure", hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])
    terms = lexigraft("explain", "--text", "kura", "--run", table_run, "--json").json["terms"]
    assert terms
    assert {(item["own"], item["from"]["kind"]) for item in terms} == {(True, "own")}


SOURCE = ("finetune.steps=20", "finetune.learning_rate=0.003")


@pytest.fixture(scope="module")
def source(backbone, collection, tmp_path_factory):  # noqa: F811
    """A run whose queries its model writes."""
    return made(collection, backbone, tmp_path_factory.mktemp("source") / "run", *SOURCE)


@pytest.fixture(scope="module")
def expanding(source, backbone, collection, tmp_path_factory):  # noqa: F811
    out = tmp_path_factory.mktemp("expanding") / "run"
    return made(collection, backbone, out, *TABLE, "model.table_terms=3", f"model.table_source={source}")


@pytest.mark.integration  # it takes long
def test_a_table_that_expands(expanding, source):
    learned = read_table(expanding / "model/finetuned")
    assert 1 < np.diff(learned.indptr).max() <= 4
    own = learned.terms == np.repeat(np.arange(learned.n_terms), np.diff(learned.indptr))
    assert own.sum() == learned.n_terms
    manifest = read_manifest(expanding / "model/finetuned")
    assert manifest.parents["table_source"] == read_manifest(source / "model/finetuned").fingerprint
    assert manifest.config["table_terms"] == 3
    assert not (expanding / "model/finetune-table").exists()
    _, encoder = opened(expanding)
    for text, (terms, weights) in zip(
        QUERIES,
        ModelQueryEncoder(TorchNetwork(open_encoder(expanding / "model/finetuned"))).encode_all(QUERIES),
        strict=True,
    ):
        found_terms, found_weights = encoder.encode(text)
        assert found_terms.tolist() == terms.tolist()
        np.testing.assert_allclose(found_weights, weights, rtol=1e-5)
    assert len(encoder.encode("kura")[0]) > len(encoder.own_terms("kura")) == 1


@pytest.mark.integration  # it takes long
@pytest.mark.parametrize("head", ["plain", "unicoil"])
def test_a_table_of_subwords(head, backbone, collection, tmp_path, lexigraft):  # noqa: F811
    """Rare subwords, such as "##u", are asked as they are and not as they are spelt; impacts bring no other term."""
    begun = ("model.own_words=0", "pretrain.steps=0", *SOURCE)
    call = options(collection, backbone, tmp_path / "source", f"model.head={head}", *begun)
    assert lexigraft("finetune", *call).status == 0
    changes = ("model.head=plain", *TABLE, "model.table_terms=2", f"model.table_source={tmp_path / 'source'}")
    answer = lexigraft("finetune", *options(collection, backbone, tmp_path / "run", *changes))
    assert answer.status == 0, answer.stderr
    learned = read_table(tmp_path / "run/model/finetuned")
    assert np.diff(learned.indptr).max() == (3 if head == "plain" else 1)
    assert np.diff(learned.indptr).min() >= 1


def test_search_by_it_never_imports_torch(expanding):
    call = [sys.executable, "-c", SEARCH, "search", "--run", str(expanding), "kura kure", "--k", "3", "--json"]
    answer = subprocess.run(call, capture_output=True, text=True, check=True, env=ONE_THREAD)
    assert "imported: []" in answer.stderr
    assert len(json.loads(answer.stdout)["hits"]) == 3


def test_its_results_are_explained_by_the_word_that_brought_a_term(expanding, lexigraft):
    of = ("--run", expanding, "--system", "esplade", "--qk", 0, "--dk", 0)  # a cut may leave own words alone
    hits = lexigraft("search", *of, "kura zano", "--k", 5, "--json").json["hits"]
    why = lexigraft("explain", *of, "kura zano", hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])
    terms = lexigraft("explain", "--text", "kura", *of, "--json").json["terms"]
    kinds = {item["term"]: (item["own"], item["from"]["kind"], item["from"]["token"]) for item in terms}
    assert kinds.pop("kura") == (True, "own", "kura")
    assert kinds
    assert set(kinds.values()) == {(False, "token", "kura")}


@pytest.mark.integration  # it takes long
def test_it_ends_with_the_same_bytes_too(source, expanding, backbone, collection, tmp_path, lexigraft, monkeypatch):  # noqa: F811
    changes = (*TABLE, "model.table_terms=3", f"model.table_source={source / 'model/finetuned'}")
    call = ["finetune", *options(collection, backbone, tmp_path / "run", *changes)]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        die_after_saving(patch)
        lexigraft(*call)
    said = lexigraft(*call)
    assert (said.status, "continuing after step 2 of 6" in said.stderr) == (0, True), said.stderr
    assert model_bytes(tmp_path / "run") == model_bytes(expanding)
    assert "finetune: done before" in lexigraft(*call).stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["model.table_terms=3"], "model.table_terms = 3 is not allowed: 0 where model.table_source is empty; name"),
        (["model.table_terms=3", "model.table_source=/nowhere"], "/nowhere is neither a model nor a run with one"),
        (["model.table_terms=3", "model.table_source={expanding}"], "has model.queries = 'table': no model writes its"),
        (["model.table_terms=3", "model.table_source={source}", "vocab.size=20"], "with different vocabularies"),
        (["model.table_terms=-1"], "model.table_terms = -1 is not allowed"),
    ],
)  # fmt: skip
def test_what_cannot_be_distilled(changes, said, source, expanding, backbone, collection, tmp_path, lexigraft):  # noqa: F811
    named = [change.format(source=source, expanding=expanding) for change in changes]
    answer = lexigraft("finetune", *options(collection, backbone, tmp_path / "run", "model.queries=table", *named))
    assert (answer.status, said in " ".join(answer.stderr.split())) == (2, True), answer.stderr
    assert not (tmp_path / "run/model/pretrained").exists()


def test_a_source_without_a_table_means_nothing(source, backbone, collection, tmp_path, lexigraft):  # noqa: F811
    """What writes the queries decides: settings of a table are those of a system that has one."""
    ignored = ("model.table_terms=3", f"model.table_source={tmp_path / 'nowhere'}")
    answer = lexigraft("finetune", *options(collection, backbone, source, *SOURCE, *ignored))
    assert (answer.status, "finetune: done before" in answer.stderr) == (0, True), answer.stderr


def model_bytes(run):
    return {name: (run / "model/finetuned" / name).read_bytes() for name in FILES}


def die_after_saving(monkeypatch):
    save = Loop._save

    def save_and_die(self, *arguments):
        save(self, *arguments)
        if self.name == "finetune":
            raise Killed

    monkeypatch.setattr(Loop, "_save", save_and_die)


@pytest.mark.integration  # it takes long
def test_killed_it_ends_with_the_same_bytes(backbone, collection, tmp_path, lexigraft, monkeypatch):  # noqa: F811
    undisturbed, run = tmp_path / "undisturbed", tmp_path / "run"
    assert lexigraft("finetune", *options(collection, backbone, undisturbed, *TABLE)).status == 0
    call = ["finetune", *options(collection, backbone, run, *TABLE)]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        die_after_saving(patch)
        lexigraft(*call)
    said = lexigraft(*call)
    assert said.status == 0, said.stderr
    assert "finetune: continuing after step 2 of 6" in said.stderr
    assert model_bytes(run) == model_bytes(undisturbed)
