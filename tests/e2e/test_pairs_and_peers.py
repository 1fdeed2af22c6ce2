"""`run --pairs auto --peers`: a dense system and a hybrid beside a blend, measured on the same queries as it is, and
chosen by made ones; and an encoder that is taken as it comes."""

import json
import shutil

import numpy as np
import pytest

from lexigraft.core.types import Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import open_dense_vectors
from lexigraft.model.backbone import load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, TorchDense
from lexigraft.model.sentence_encoder import own_length, why_no_sentence_encoder
from tests.e2e.test_pairs import TOPICS, command, texts
from tests.topics import write_tiny_bert

PEERS = ("--peers", "--set", "dense.steps=2", "--set", "dense.validate_every=0")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("pairs-and-peers")
    judged = [Query(f"q{number}", f"n{number}w1") for number in range(30)]
    write_collection(root / "judged", texts(), judged, {"test": [Qrel(f"q{n}", f"d{n}", 1) for n in range(30)]})
    (root / "bert").mkdir()
    write_tiny_bert(root / "bert", [topic[0][:3] for topic in TOPICS])
    return root


@pytest.mark.integration  # it takes long
def test_peers_are_measured_where_the_others_are_and_chosen_by_made_queries(place, lexigraft, tmp_path):
    out = tmp_path / "run"
    answer = lexigraft(*command(place, "judged", out, *PEERS))
    assert answer.status == 0, answer.stderr
    report = answer.json
    assert (report["collection"]["split"], report["collection"]["queries"]) == ("test", 30)
    rows = {row["system"]: row for row in report["rows"] if not row["dk"]}
    assert set(rows) == {"bm25", "esplade-doc", "blend", "dense", "hybrid"}
    assert (out / "full/dense/evaluation-qk0-dk0").is_dir() and (out / "full/hybrid/evaluation-qk0-dk0").is_dir()
    assert not (out / "judged/dense/evaluation-qk0-dk0").exists()
    choice = report["hybrids"]["hybrid"]
    held_out = {line.split("\t")[0] for line in (out / "pairs/qrels/dev.tsv").read_text().splitlines()[1:]}
    assert choice["queries"] == len(held_out) and "made dev queries" in choice["why"]
    size = sum(file.stat().st_size for file in (out / "full/dense/vectors").iterdir() if file.name != "manifest.json")
    assert rows["dense"]["index_bytes"] == size
    assert lexigraft("search", "--run", out, "--system", "hybrid", "--json", "n7w1").json["hits"]
    compared = lexigraft("evaluate", "--run", out, "--json").json
    assert {"dense", "hybrid"} <= set(compared["systems"])
    again = lexigraft(*command(place, "judged", out, *PEERS))
    done = [line for line in again.stderr.splitlines() if line.endswith(" MiB")]
    assert not [line for line in done if "dense" in line or "hybrid" in line]


def test_an_encoder_as_it_comes_is_the_backbone_whole(place, lexigraft, tmp_path):
    out = tmp_path / "run"
    more = ("--set", 'run.systems=["bm25","dense"]', "--set", "dense.trains=off", "--set", "dense.document_length=60")
    answer = lexigraft(*command(place, "judged", out, *more))
    assert answer.status == 0, answer.stderr
    assert "is taken as it comes, though it shows no modules.json" in " ".join(answer.stderr.split())
    assert {row["system"] for row in answer.json["rows"]} == {"bm25", "dense"}
    some = [document.contents for document in texts(3)]
    untouched = DenseEncoder.of(load_backbone(str(place / "bert")), 20, 60).eval()  # all layers; model.layers is 1
    expected = TorchDense(untouched, exact=True).embed(some, are_queries=False)
    stored = np.asarray(open_dense_vectors(out / "full/dense/vectors").matrix[:3], np.float32)
    assert (stored * expected).sum(1) == pytest.approx(1, abs=2e-3)
    assert np.asarray(open_dense(out / "models/dense/encoder").embed(some, False)) == pytest.approx(stored, abs=1e-6)
    again = lexigraft(*command(place, "judged", out, *more, "--set", "dense.learning_rate=0.5"))
    assert "take the encoder of dense: done before" in again.stderr


def test_a_sentence_encoder_is_a_system_and_a_teacher_without_being_asked_for(place, lexigraft, tmp_path):
    out, backbone = tmp_path / "run", tmp_path / "bert"
    shutil.copytree(place / "bert", backbone)
    parts = [{"type": "sentence_transformers.models.Transformer", "path": ""}]
    parts.append({"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"})
    (backbone / "modules.json").write_text(json.dumps(parts))
    (backbone / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 48}))
    (backbone / "1_Pooling").mkdir()
    (backbone / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    more = [f"model.backbone={backbone}", 'finetune.teachers=["bm25","dense"]']
    answer = lexigraft(*command(place, "judged", out), *(part for one in more for part in ("--set", one)))
    assert answer.status == 0, answer.stderr
    report = answer.json
    assert {row["system"] for row in report["rows"]} == {"bm25", "esplade-doc", "blend", "dense", "hybrid"}
    meta = open_dense(out / "models/dense/encoder").meta
    assert (meta.query_length, meta.document_length) == (48, 48)
    assert "take the encoder of dense" in answer.stderr and "train of dense" not in answer.stderr
    facts = json.loads((out / "models/esplade-doc/finetuned/teachers.json").read_text())
    assert facts["bm25"]["heard"] and set(facts["dense"]) == {"mrr", "temperature", "loss", "with_bm25", "heard"}
    assert facts["dense"]["heard"] == (facts["dense"]["with_bm25"]["mrr"] > facts["bm25"]["mrr"])
    choice = report["hybrids"]["hybrid"]
    # An encoder that has not been trained here is chosen by more queries, unless a blend, which has, is its other part.
    by = "cut-out" if choice["of"][0] == "bm25" else "dev"
    asked = {line.split("\t")[0] for line in (out / f"pairs/qrels/{by}.tsv").read_text().splitlines()[1:]}
    assert choice["queries"] == len(asked)
    assert ("made queries that neither of them trained on" in choice["why"]) == (by == "cut-out")
    alone = max(one["MRR@10"] for one in choice["looked_at"]) - choice["ahead"]
    clearly = choice["ahead"] > 0.05 * min(alone, 1 - alone) and choice["p"] is not None and choice["p"] < 0.05
    assert report["recommended"]["system"] == ("hybrid" if clearly else choice["of"][0])
    assert lexigraft("search", "--run", out, "--json", "n7w1").json["hits"]


def test_what_is_made_from_scratch_cannot_be_taken_as_it_comes(place, lexigraft, tmp_path):
    systems = ("--set", 'run.systems=["bm25","dense"]', "--set", "dense.trains=off")
    answer = lexigraft(*command(place, "judged", tmp_path / "run", *systems, "--set", "model.backbone=scratch"))
    assert answer.status == 2
    assert "this one is made from scratch" in " ".join(answer.stderr.split())


def test_the_mean_over_tokens_is_known_by_what_lies_beside_the_weights(tmp_path):
    assert "shows no modules.json" in why_no_sentence_encoder(str(tmp_path))
    kinds = ["Transformer", "Pooling", "Normalize"]
    parts = [{"type": f"sentence_transformers.models.{kind}", "path": "1_Pooling" * (at == 1)} for at, kind in
             enumerate(kinds)]  # fmt: skip
    (tmp_path / "1_Pooling").mkdir()

    def said(parts, **pooling):
        (tmp_path / "modules.json").write_text(json.dumps(parts))
        (tmp_path / "1_Pooling/config.json").write_text(json.dumps(pooling))
        return why_no_sentence_encoder(str(tmp_path))

    assert said(parts, pooling_mode_mean_tokens=True, pooling_mode_cls_token=False) == ""
    assert own_length(str(tmp_path)) == 0
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    assert own_length(str(tmp_path)) == 256
    assert said(parts[:2], pooling_mode_mean_tokens=True) == ""
    assert "does not pool by the mean" in said(parts, pooling_mode_mean_tokens=True, pooling_mode_cls_token=True)
    assert "does not pool by the mean" in said(parts, pooling_mode_cls_token=True)
    dense = [*parts[:2], {"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]
    assert "it is made of Transformer, Pooling, Dense" in said(dense, pooling_mode_mean_tokens=True)
