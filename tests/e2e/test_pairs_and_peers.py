"""`run --pairs auto --peers`: a dense system and a hybrid beside a blend, measured on the same queries as it is, and
chosen by made ones; and an encoder that is taken as it comes."""

import json
import shutil

import numpy as np
import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.core.types import Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.write import write_collection
from lexigraft.dense.opening import open_dense
from lexigraft.dense.store import open_dense_vectors
from lexigraft.inference.dense_meta import embed
from lexigraft.model.backbone import load_backbone
from lexigraft.model.dense_encoder import DenseEncoder, TorchDense
from lexigraft.model.sentence_encoder import own_length, why_no_sentence_encoder
from lexigraft.own_settings import encoder_time
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


def as_sentence_encoder(place, folder):
    """What names a copy of the backbone that says of itself what sentence encoders say."""
    backbone = folder / "bert"
    shutil.copytree(place / "bert", backbone)
    parts = [{"type": "sentence_transformers.models.Transformer", "path": ""}]
    parts.append({"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"})
    (backbone / "modules.json").write_text(json.dumps(parts))
    (backbone / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 48}))
    (backbone / "1_Pooling").mkdir()
    (backbone / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    return "--set", f"model.backbone={backbone}"


def same_texts(run):
    """Of each document that pairs were made of, whether nothing was cut out of it."""
    own = {document.doc_id: document.contents for document in texts()}
    return [own[one.doc_id] == one.contents for one in open_collection(run / "pairs").documents()]


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
    assert "is taken as a sentence encoder as it comes, though it shows no modules.json" in " ".join(
        answer.stderr.split()
    )
    assert {row["system"] for row in answer.json["rows"]} == {"bm25", "dense"}
    some = [document.contents for document in texts(3)]
    untouched = DenseEncoder.of(load_backbone(str(place / "bert")), 20, 60).eval()  # all layers; model.layers is 1
    expected = embed(TorchDense(untouched, exact=True), some, are_queries=False)
    stored = np.asarray(open_dense_vectors(out / "full/dense/vectors").matrix[:3], np.float32)
    assert (stored * expected).sum(1) == pytest.approx(1, abs=2e-3)
    assert np.asarray(embed(open_dense(out / "models/dense/encoder"), some, False)) == pytest.approx(stored, abs=1e-6)
    again = lexigraft(*command(place, "judged", out, *more, "--set", "dense.learning_rate=0.5"))
    assert "take the encoder of dense: done before" in again.stderr


def test_within_a_time_an_encoder_reads_as_much_as_fits_or_is_left_out_by_name(place, lexigraft, tmp_path, monkeypatch):
    given = command(place, "judged", tmp_path / "run", *as_sentence_encoder(place, tmp_path), "--minutes", "2")
    given += ["--set", 'run.systems=["bm25","dense","hybrid"]']
    monkeypatch.setattr(encoder_time, "SHORTER", (24, 12))
    with monkeypatch.context() as patch:
        patch.setattr(encoder_time, "pace", lambda _network, _texts, length: length * 100.0)
        answer = lexigraft(*given)
    assert answer.status == 0, answer.stderr
    assert {row["system"] for row in answer.json["rows"]} == {"bm25"}
    (left,) = answer.json["own_settings"]["choices"]
    assert left["about"] == "left out" and left["why"].startswith("dense, hybrid: ") and "12 subwords" in left["why"]
    assert lexigraft("search", "--run", tmp_path / "run", "--json", "n7w1").json["hits"][0]["doc_id"] == "d7"
    n_texts = 260 + sum(not same for same in same_texts(tmp_path / "run"))
    with monkeypatch.context() as patch:  # 48 subwords would take 166 s
        patch.setattr(encoder_time, "pace", lambda _network, _texts, length: (length > 8) * 3 * length / n_texts)
        answer = lexigraft(*given)  # the same command goes on
    assert answer.status == 0, answer.stderr
    (chosen,) = answer.json["own_settings"]["choices"]
    assert chosen["settings"] == {"dense.document_length": 24} and f"{n_texts} texts" in chosen["why"]
    assert {row["system"] for row in answer.json["rows"]} == {"bm25", "dense", "hybrid"}
    vectors, encoder = tmp_path / "run/full/dense/vectors", open_dense(tmp_path / "run/models/dense/encoder")
    assert encoder.meta.document_length == 48  # of queries it reads as much as ever
    expected = embed(encoder.reading(24), [document.contents for document in texts()], are_queries=False)
    assert np.asarray(open_dense_vectors(vectors).matrix) == pytest.approx(expected, abs=1e-5)
    again = lexigraft(*given)
    assert "its documents were encoded before" in again.stderr and "encode dense (full): done before" in again.stderr
    for length in (20, 48, 20):  # 48 is all that it reads
        by_hand = lexigraft(*given, "--set", f"dense.document_length={length}")
        assert by_hand.status == 0 and "its documents were encoded before" not in by_hand.stderr
        kept = read_manifest(vectors)
        assert kept is not None and kept.config.get("document_length", 48) == length
    assert "its documents were encoded before" in lexigraft(*given, "--set", "dense.document_length=20").stderr


def test_a_sentence_encoder_is_a_system_and_a_teacher_without_being_asked_for(place, lexigraft, tmp_path):
    out, taught = tmp_path / "run", ("--set", 'finetune.teachers=["bm25","dense"]')
    answer = lexigraft(*command(place, "judged", out, *as_sentence_encoder(place, tmp_path), *taught))
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
    # Neither has been trained here, so that all queries choose that were cut out of their documents.
    asked = {line.split("\t")[0] for line in (out / "pairs/qrels/cut-out.tsv").read_text().splitlines()[1:]}
    assert choice["of"] == ["bm25", "dense"] and choice["queries"] == len(asked)
    assert "made queries that neither of them trained on" in choice["why"]
    alone = max(one["MRR@10"] for one in choice["looked_at"]) - choice["ahead"]
    clearly = choice["ahead"] > 0.05 * min(alone, 1 - alone) and choice["p"] is not None and choice["p"] < 0.05
    assert report["recommended"]["system"] in (("hybrid", "blend") if clearly else ("bm25", "blend"))
    said = " ".join(answer.stderr.split())
    first = ("index bm25 (full)", "make pairs", "encode dense (full)", "encode dense (judged)", "--system hybrid")
    places = [said.index(part) for part in (*first, "vocabulary of esplade-doc", "finetune of esplade-doc")]
    assert places == sorted(places)  # what needs no training stands before what trains
    judged, full = (read_manifest(out / view / "dense/vectors") for view in ("judged", "full"))
    assert judged is not None and full is not None and judged.parents["full"] == full.fingerprint
    assert lexigraft("search", "--run", out, "--json", "n7w1").json["hits"]


def test_what_is_made_from_scratch_cannot_be_taken_as_it_comes(place, lexigraft, tmp_path):
    systems = ("--set", 'run.systems=["bm25","dense"]', "--set", "dense.trains=off")
    answer = lexigraft(*command(place, "judged", tmp_path / "run", *systems, "--set", "model.backbone=scratch"))
    assert answer.status == 2
    assert "this backbone is made from scratch" in " ".join(answer.stderr.split())


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
