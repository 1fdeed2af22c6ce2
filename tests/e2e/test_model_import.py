"""SPLADE models made elsewhere: imported, they give the vectors that sentence-transformers gives (within 1e-5)."""

import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import CrossEncoder, SparseEncoder
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sparse_encoder.modules import SpladePooling

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.inference.network import SMALLEST_WEIGHT
from lexigraft.inference.reading import read_queries
from lexigraft.model.cross_encoder import Lengths, load_cross_encoder
from lexigraft.model.encoder import open_encoder
from lexigraft.model.imported import import_encoder
from lexigraft.model.inputs import inputs_of
from lexigraft.model.text_pairs import pair_inputs, read_subwords
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.text_encoder import TextEncoder
from tests.families import FAMILIES, write_backbone

TEXTS = ["Kura, mele? tosi.", "bru", "", "zan " * 30, "kur [MASK] xé 한국", "  vipa\n\tfod  "]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def backbones(tmp_path_factory):
    return {family: write_backbone(family, tmp_path_factory.mktemp(family), loud=20.0) for family in FAMILIES}


def made_elsewhere(backbone, folder, pooling="max", activation="relu", **options):
    network = Transformer(str(backbone), transformer_task="fill-mask", max_seq_length=12)
    model = SparseEncoder(modules=[network, SpladePooling(pooling, activation)], device="cpu", **options)
    model.save_pretrained(str(folder))
    return model


def vectors_of(encoder, texts=TEXTS):
    """Dense [texts, terms], all of them in one batch."""
    read = read_queries(encoder.reader(), texts, encoder.meta.query_length)
    inputs = inputs_of(read, np.arange(len(texts)), encoder.tokenizer.special.pad, torch.device("cpu"))
    with torch.inference_mode():
        return encoder(*inputs)


def assert_same(found, expected):
    torch.testing.assert_close(found, expected.to_dense(), rtol=TOLERANCE, atol=TOLERANCE)
    assert (expected.to_dense()[0] > 0.1).sum() > 3  # there is something to compare


@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
@pytest.mark.parametrize("pooling", ["max", "sum"])
@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_its_vectors_are_those_of_sentence_transformers(family, pooling, activation, backbones, tmp_path):
    theirs = made_elsewhere(backbones[family], tmp_path / "theirs", pooling, activation)
    encoder = import_encoder(str(tmp_path / "theirs"))
    assert (encoder.meta.query_length, encoder.meta.document_length) == (12, 12)
    assert_same(vectors_of(encoder), theirs.encode(TEXTS))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_masked_language_model_is_a_splade_model(family, backbones):
    expected = SparseEncoder(str(backbones[family]), device="cpu")
    expected.max_seq_length = 40  # RoBERTa's positions are two fewer than its configuration says
    assert_same(vectors_of(import_encoder(str(backbones[family]))), expected.encode(TEXTS))


def test_prompts_limits_and_the_old_layout(backbones, tmp_path):
    folder = tmp_path / "theirs"
    prompts = {"query": "kura: ", "passage": "mele "}
    theirs = made_elsewhere(backbones["bert"], folder, prompts=prompts, max_active_dims=9)
    parts = json.loads((folder / "modules.json").read_text())
    parts[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
    (folder / "modules.json").write_text(json.dumps(parts))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8, "do_lower_case": True}))
    theirs.max_seq_length = 8
    encoder = import_encoder(str(folder))
    for role, encode in (("query", theirs.encode_query), ("document", theirs.encode_document)):
        expected = encode(TEXTS).to_dense()
        for number, (terms, weights) in enumerate(
            TextEncoder(TorchNetwork(encoder, exact=True), role == "query").encode(TEXTS)
        ):
            row = torch.zeros(expected.shape[1])
            row[torch.from_numpy(terms).long()] = torch.from_numpy(weights)
            assert 0 < len(terms) <= 9
            torch.testing.assert_close(row, expected[number], rtol=TOLERANCE, atol=SMALLEST_WEIGHT)


def test_from_a_foreign_model_to_explained_results(backbones, tmp_path, lexigraft):
    theirs = made_elsewhere(backbones["distilbert"], tmp_path / "theirs", "sum")
    said = lexigraft("model", "import", tmp_path / "theirs", "--out", tmp_path / "model", "--query-length", 7)
    assert said.status == 0, said.stderr
    assert "sum over all tokens, at most 7 of a query and 12 of a document" in said.stdout
    encoder = open_encoder(tmp_path / "model")
    theirs.max_seq_length = 7
    assert_same(vectors_of(encoder), theirs.encode(TEXTS))
    again = lexigraft("model", "import", tmp_path / "theirs", "--out", tmp_path / "model", "--json").json
    assert (again["head"], again["pooling"], again["pooled"], again["own_words"]) == ("plain", "sum", "all", False)
    write_collection(tmp_path / "data", [Document("x", "", "kura kura mele"), Document("y", "", "bru, zan.")])
    steps = [
        ["encode", "--data", tmp_path / "data", "--model", tmp_path / "model", "--out", tmp_path / "v"],
        ["index", "--vectors", tmp_path / "v", "--out", tmp_path / "i"],
    ]
    assert [lexigraft(*step).status for step in steps] == [0, 0]
    hits = lexigraft("search", "--index", tmp_path / "i", "kura", "--json").json["hits"]
    assert {hit["doc_id"] for hit in hits} == {"x", "y"}
    why = lexigraft("explain", "--index", tmp_path / "i", "kura", hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])


def test_what_cannot_be_imported_is_said(backbones, tmp_path, lexigraft):
    good = tmp_path / "good"
    made_elsewhere(backbones["bert"], good)

    def refused(change, *options):
        bad = tmp_path / "bad"
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(good, bad)
        change(bad)
        answer = lexigraft("model", "import", bad, "--out", tmp_path / "model", *options)
        assert (answer.status, (tmp_path / "model").exists()) == (2, False)
        return answer.stderr

    def parts(*kinds):
        listed = [{"idx": n, "path": "1_SpladePooling" if n else "", "type": f"a.b.{k}"} for n, k in enumerate(kinds)]
        return lambda bad: (bad / "modules.json").write_text(json.dumps(listed))

    def pooling(text):
        return lambda bad: (bad / "1_SpladePooling/config.json").write_text(text)

    assert "its queries go another way than its documents" in refused(parts("Router"))
    assert "is made of Transformer, Pooling; a SPLADE model" in refused(parts("Transformer", "Pooling"))
    assert "1_SpladePooling/config.json is missing" in refused(
        lambda bad: (bad / "1_SpladePooling/config.json").unlink()
    )
    assert "pools by 'mean' after 'relu'" in refused(pooling('{"pooling_strategy": "mean"}'))
    assert "pools by 'max' after 'gelu'" in refused(pooling('{"activation_function": "gelu"}'))
    assert "is not JSON" in refused(pooling("{"))
    assert "--query-length = 13 is not allowed" in refused(lambda bad: None, "--query-length", 13)
    assert "--document-length = 2 is not allowed" in refused(lambda bad: None, "--document-length", 2)
    assert "is no masked language model (BertModel)" in refused(
        lambda bad: transformers.AutoModel.from_pretrained(bad).save_pretrained(bad)
    )
    cased = transformers.BertTokenizerFast.from_pretrained(good, do_lower_case=False)

    def lowers(bad):
        cased.save_pretrained(bad)
        (bad / "sentence_bert_config.json").write_text('{"do_lower_case": true}')

    assert "lower-cases texts before its tokenizer sees them" in refused(lowers)
    nowhere = lexigraft("model", "import", tmp_path / "nothing", "--out", tmp_path / "model")
    assert (nowhere.status, "no model can be loaded from" in nowhere.stderr) == (2, True)


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_a_teacher_of_ours_scores_there_as_here(family, backbones, tmp_path):
    model = load_cross_encoder(str(backbones[family]), Lengths(6, 20)).eval()
    model.model.classifier.weight.data.mul_(100)  # as drawn, it makes all scores nearly alike
    model.save(tmp_path)
    queries, documents = ["kura mele", "zan?"], ["tosi. kura", "bru"]
    rows = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    texts = read_subwords(model.tokenizer, queries, 6), read_subwords(model.tokenizer, documents, 20)
    with torch.inference_mode():
        ours = model(pair_inputs(model.template, *texts, *rows, model.pad_id)).numpy()
    theirs = CrossEncoder(str(tmp_path), device="cpu")
    found = theirs.predict([(queries[q], documents[d]) for q, d in zip(*rows, strict=True)], show_progress_bar=False)
    assert len(set(ours.round(3).tolist())) == 4
    assert np.allclose(found, ours, atol=TOLERANCE)
