"""Heads, poolings and families of backbones, trained for a few steps by the commands, saved and opened again."""

import json

import numpy as np
import pytest
import torch

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.model.encoder import open_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.model_queries import ModelQueryEncoder
from tests.families import FAMILIES, STEMS, write_backbone

TEXTS = ["kura, mele?", "tosi", "bru bru zan"]


@pytest.fixture(scope="module")
def backbones(tmp_path_factory):
    return {family: write_backbone(family, tmp_path_factory.mktemp(family), loud=5.0) for family in FAMILIES}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    rng = np.random.default_rng(0)
    documents, queries, qrels = [], [], {"train": [], "test": []}
    for number in range(60):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        documents.append(Document(f"d{number}", "", " ".join(words[:3]) + f", n{number % 7}."))
        queries.append(Query(f"q{number}", " ".join(words[2:4])))
        qrels["test" if number >= 50 else "train"].append(Qrel(f"q{number}", f"d{number}", 1))
    folder = tmp_path_factory.mktemp("data") / "topics"
    write_collection(folder, documents, queries, qrels)
    return folder


def options(collection, backbone, out, *changes):
    settings = [
        'run.systems=["bm25","esplade"]', f"model.backbone={backbone}", "model.layers=0", "model.alpha=1",
        "vocab.min_count=1", "vocab.stemmer=none", "pretrain.steps=2", "pretrain.batch=8", "pretrain.warmup=0",
        "finetune.steps=2", "finetune.batch=8", "finetune.warmup=0", "finetune.validate_every=0",
        "finetune.joint_flops=0", "evaluate.timing_runs=1", "prune.budgets=[[0,0]]", *changes,
    ]  # fmt: skip
    return ["--data", collection, "--out", out, "--json", *(part for one in settings for part in ("--set", one))]


def weights_of(encoder, texts=TEXTS):
    return [dict(zip(terms.tolist(), values.tolist(), strict=True)) for terms, values in encoder.encode_all(texts)]


FEW = ("bert",)  # the others take as long again, each
FAMILIES_TO_TRAIN = [
    family if family in FEW else pytest.param(family, marks=pytest.mark.integration) for family in FAMILIES
]


@pytest.mark.parametrize("head", ["grafted", "plain"])
@pytest.mark.parametrize("family", FAMILIES_TO_TRAIN)
def test_every_family_trains(family, head, backbones, collection, tmp_path, lexigraft):
    answer = lexigraft("finetune", *options(collection, backbones[family], tmp_path / "run", f"model.head={head}"))
    assert answer.status == 0, answer.stderr
    before, after = (open_encoder(tmp_path / "run/model" / part) for part in ("pretrained", "finetuned"))
    assert after.meta.tied == (head == "plain")
    assert not torch.equal(before.head.weight, after.head.weight)
    moved = not torch.equal(before.backbone.word_embeddings, after.backbone.word_embeddings)
    assert moved == (head == "plain")  # what is tied trains as one; a grafted head leaves the embeddings alone
    found = weights_of(ModelQueryEncoder(TorchNetwork(after)))
    assert all(found)
    assert found == weights_of(ModelQueryEncoder(TorchNetwork(open_encoder(tmp_path / "run/model/finetuned"))))


@pytest.mark.parametrize("pooling", ["sum", "cls"])
def test_poolings_are_trained_and_remembered(pooling, backbones, collection, tmp_path, lexigraft):
    changes = [f"model.pooling={pooling}", "model.pooled=all"]
    answer = lexigraft("finetune", *options(collection, backbones["bert"], tmp_path / "run", *changes))
    assert answer.status == 0, answer.stderr
    encoder = open_encoder(tmp_path / "run/model/finetuned")
    assert (encoder.meta.pooling, encoder.meta.pooled) == (pooling, "all")
    found = ModelQueryEncoder(TorchNetwork(encoder))
    terms = [encoder.vocabulary.terms[term] for term in found.own_terms("kura mele")]
    assert sorted(terms) == ["kura", "mele"]
    heaviest = weights_of(found, ["kura mele"])[0]
    assert all(encoder.vocabulary.id_of[term] in heaviest for term in terms)  # own words work here too


def test_a_plain_head_from_text_to_explanation(backbones, collection, tmp_path, lexigraft):
    run = tmp_path / "run"
    call = options(collection, backbones["bert"], run, "model.head=plain", "model.pooled=all", "finetune.steps=20")
    answer = lexigraft("run", *call)
    assert answer.status == 0, answer.stderr
    assert [row["system"] for row in answer.json["rows"]] == ["bm25", "esplade"]
    hits = lexigraft("search", "--run", run, "kura kure", "--k", 5, "--json").json["hits"]
    why = lexigraft("explain", "--run", run, "kura kure", hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])
    terms = lexigraft("explain", "--text", "kura", "--run", run, "--json").json["terms"]
    assert {item["term"] for item in terms if item["own"]} == {"kur", "##a"}  # subwords, as the backbone spells them
    assert {item["from"]["token"] for item in terms} <= {"kur", "a", "[CLS]", "[SEP]"}  # all tokens are pooled
    assert {item["from"]["kind"] for item in terms} <= {"token", "own", "special"}
    facts = json.loads((run / "model/vocabulary/vocabulary.json").read_text())
    assert facts["documents"] == 60
    assert facts["mean_words"] == pytest.approx(3 * 2 + 1 + 2 + 1)  # kur ##a, thrice; a comma; n ##3; a full stop
    said = lexigraft("vocab", "learn", *[part for part in call if part != "--json"])
    assert "the backbone's own subwords, counted in 60 documents" in said.stdout
    assert lexigraft("vocab", "stats", run, "--data", collection, "--json").json["kind"] == "pieces"


def test_what_does_not_go_together(backbones, collection, tmp_path, lexigraft):
    call = options(collection, backbones["roberta"], tmp_path / "run", "model.head=plain", f"vocab.source={collection}")
    answer = lexigraft("vocab", "learn", *call)
    assert (answer.status, "does not go with model.head = 'plain'" in answer.stderr) == (2, True)
    long = options(collection, backbones["roberta"], tmp_path / "run", "model.document_length=41")
    answer = lexigraft("pretrain", *long)
    assert (answer.status, "reads at most 40 subwords, not 41" in answer.stderr) == (2, True)
    plain = options(collection, backbones["bert"], tmp_path / "plain", "model.head=plain")
    assert lexigraft("vocab", "learn", *plain).status == 0
    source = f"vocab.source={tmp_path / 'plain/model/vocabulary'}"
    answer = lexigraft("vocab", "learn", *options(collection, backbones["bert"], tmp_path / "other", source))
    assert (answer.status, "its terms are subwords, not words" in answer.stderr) == (2, True)
