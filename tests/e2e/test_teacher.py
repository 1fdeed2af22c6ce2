"""A teacher end to end on a tiny backbone: trained, killed and continued, scored with, distilled from, and in a run."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import transformers

from lexigraft.core.artifact import read_manifest
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.readers.scores import read_scores
from lexigraft.data.write import write_collection
from lexigraft.learn.teacher import scoring as teacher_scoring
from lexigraft.measure.trec import read_run
from lexigraft.train.loop import Loop
from tests.families import STEMS, write_backbone
from tests.killed import Killed, dies_at_call

N, N_TRAIN = 120, 100
GOOD, BAD = STEMS[0], STEMS[1]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Every query wants a document with the stem GOOD, and a run ranks others with the stem BAD before it."""
    root, rng = tmp_path_factory.mktemp("teacher"), np.random.default_rng(0)
    documents, queries, judged, run = [], [], [], []
    for number in range(N):
        topic = STEMS[2 + number % 6]
        documents.append(Document(f"d {number}" if number == 7 else f"d{number}", "", f"{topic} {GOOD} n{number}"))
        documents.append(Document(f"b{number}", "", f"{topic} {BAD} n{number}"))
        queries.append(Query(f"q{number}", f"{topic} n{number}"))
        judged.append(Qrel(f"q{number}", f"d {number}" if number == 7 else f"d{number}", 1))
        found = number % 6 + 6 * rng.choice(N // 6, 8, replace=False)  # of the same topic
        run += [f"q{number} Q0 b{other} {rank} {-rank} by-hand" for rank, other in enumerate(found, 1)]
    write_collection(root / "stems", documents, queries, {"train": judged[:N_TRAIN], "test": judged[N_TRAIN:]})
    (root / "negatives.trec").write_text("\n".join(run) + "\n")
    return root / "stems", root / "negatives.trec", write_backbone("bert", root / "backbone", loud=5.0)


def train(data, out, *more):
    collection, negatives, backbone = data
    return (
        "teacher", "train", "--data", collection, "--negatives", negatives, "--backbone", backbone, "--out", out,
        "--layers", 1, "--steps", 6, "--batch", 8, "--n-negatives", 3, "--query-length", 8, "--document-length", 8,
        "--learning-rate", 0.003, "--warmup", 2, "--validate-every", 3, "--checkpoint-every", 2, "--json", *more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """Long enough to learn something; the command line's own fixture lives too short."""
    from lexigraft.core.settings import Settings, TeacherSettings
    from lexigraft.learn.teacher.training import make_teacher

    collection, negatives, backbone = data
    wanted = TeacherSettings(
        steps=40, batch=12, n_negatives=3, learning_rate=0.01, warmup=5, dropout=0.0, query_length=8,
        document_length=8, layers=1, validate_every=20,
    )  # fmt: skip
    out = tmp_path_factory.mktemp("trained") / "teacher"
    return out, make_teacher(str(backbone), str(collection), negatives, out, wanted, Settings())


def test_it_learns_to_tell_documents_apart(trained):
    out, facts = trained
    assert facts["accuracy"] > 0.6  # by chance 0.25
    assert facts["MRR@10"] > 0.5
    assert facts["validation_queries"] == 4
    assert transformers.AutoModelForSequenceClassification.from_pretrained(out).config.num_labels == 1
    assert {"history.json", "curves.png", "teacher.json", "manifest.json"} <= {file.name for file in out.iterdir()}
    assert not list(out.parent.glob(".*"))  # no checkpoint is left


def test_killed_it_ends_with_the_same_bytes_and_is_not_trained_twice(data, tmp_path, lexigraft, monkeypatch):
    once = lexigraft(*train(data, tmp_path / "once"))
    assert once.status == 0, once.stderr
    save = Loop._save

    def save_and_die(self, *arguments):
        save(self, *arguments)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Loop, "_save", save_and_die)
        lexigraft(*train(data, tmp_path / "twice"))
    again = lexigraft(*train(data, tmp_path / "twice"))
    assert "teacher: continuing after step 2 of 6" in again.stderr
    assert {**again.json, "teacher": ""} == {**once.json, "teacher": ""}
    for name in ("model.safetensors", "history.json"):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()
    assert "teacher: done before" in lexigraft(*train(data, tmp_path / "twice")).stderr


def score(data, teacher, out, *more):
    collection, negatives, _ = data
    return (
        "teacher", "score", "--model", teacher, "--data", collection, "--pairs", negatives, "--out", out, "--json",
        *more,
    )  # fmt: skip


def test_its_scores_are_a_run_that_evaluation_and_distillation_read(data, trained, tmp_path, lexigraft):
    collection, negatives, _ = data
    scored = tmp_path / "deep/scores.trec"
    answer = lexigraft(*score(data, trained[0], scored, "--with-positives", "test"))
    assert answer.status == 0, answer.stderr
    before = {ranking.query_id: set(ranking.doc_ids) for ranking in read_run(negatives)}
    after = {ranking.query_id: ranking for ranking in read_run(scored)}
    for number in range(N):
        own = {"d 7" if number == 7 else f"d{number}"} if number >= N_TRAIN else set()
        assert set(after[f"q{number}"].doc_ids) == before[f"q{number}"] | own
    scores = [pair.score for pair in read_scores(scored) if pair.query_id == "q3"]
    assert scores == sorted(scores, reverse=True)
    assert answer.json == {"run": str(scored), "queries": N, "pairs": sum(len(r.doc_ids) for r in after.values())}
    measured = lexigraft("evaluate", scored, "--data", collection, "--json").json
    (found,) = measured["systems"].values()
    assert found["MRR@10"] > 0.6  # of test queries, which it never saw; by chance 0.31
    assert not list(scored.parent.glob(".*"))
    with_train = tmp_path / "train.trec"
    shown = lexigraft(
        *score(data, trained[0], with_train, "--with-positives", "train")[:-3], "--with-positives", "train"
    )
    assert f"--set finetune.teacher={with_train}" in shown.stdout
    run = tmp_path / "run"
    alone = (
        "finetune.in_batch=0", "finetune.dropout=0", "finetune.kl=1", "finetune.temperature=1", "finetune.steps=9",
        f"finetune.negatives={negatives}", f"finetune.teacher={with_train}",
    )  # fmt: skip
    tuned = lexigraft("finetune", *model_options(data, run, *alone))
    assert tuned.status == 0, tuned.stderr
    assert "no score" not in tuned.stderr  # every pair has one
    history = json.loads((run / "model/finetuned/history.json").read_text())
    assert "rank" not in history[0]
    assert history[-1]["kl"] < history[0]["kl"]


def test_scoring_goes_on_where_it_was_stopped(data, trained, tmp_path, lexigraft, monkeypatch):
    assert lexigraft(*score(data, trained[0], tmp_path / "whole.trec")).status == 0
    monkeypatch.setattr(teacher_scoring, "QUERIES_AT_ONCE", 50)
    out = tmp_path / "stopped.trec"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(teacher_scoring, "score_pairs", dies_at_call(teacher_scoring.score_pairs, 2))
        lexigraft(*score(data, trained[0], out))
    assert not out.exists()
    with (tmp_path / ".stopped.trec.scoring/part").open("a") as part:
        part.write("q50 Q0 d1")  # what a kill in the middle of a line leaves
    answer = lexigraft(*score(data, trained[0], out))
    assert "scoring: continuing after 50 queries" in answer.stderr
    ours, theirs = (
        [(r.query_id, r.doc_ids, r.scores) for r in read_run(file)] for file in (out, tmp_path / "whole.trec")
    )
    assert [(query, set(docs)) for query, docs, _ in ours] == [(query, set(docs)) for query, docs, _ in theirs]
    for (_, _, some), (_, _, others) in zip(ours, theirs, strict=True):
        assert some == pytest.approx(others, abs=1e-4)  # other rectangles round otherwise


def model_options(data, out, *changes):
    collection, _, backbone = data
    settings = [
        f"model.backbone={backbone}", "model.layers=1", "model.alpha=1", "vocab.min_count=1", "vocab.stemmer=none",
        "pretrain.steps=2", "pretrain.batch=8", "finetune.steps=3", "finetune.batch=16", "finetune.frozen_layers=0",
        "finetune.validate_every=3", "finetune.joint_flops=0.001", "finetune.n_negatives=3", "finetune.warmup=0",
        "evaluate.timing_runs=1", "prune.budgets=[[0,0]]", *changes,
    ]  # fmt: skip
    return ["--data", collection, "--out", out, "--json", *(part for one in settings for part in ("--set", one))]


IN_A_RUN = (
    'run.systems=["bm25","esplade"]', "finetune.kl=1", "teacher.steps=4", "teacher.batch=8", "teacher.n_negatives=3",
    "teacher.depth=10", "teacher.layers=1", "teacher.query_length=8", "teacher.document_length=8",
    "teacher.validate_every=2", "teacher.warmup=0", "teacher.measured_queries=10",
)  # fmt: skip


@pytest.mark.integration  # it takes long
def test_a_run_trains_a_teacher_and_learns_from_it(data, tmp_path, lexigraft):
    run = tmp_path / "run"
    first = lexigraft("run", *model_options(data, run, *IN_A_RUN))
    assert first.status == 0, first.stderr
    quality = first.json["teacher"]
    assert (quality["split"], quality["queries"], quality["depth"]) == ("test", 10, 100)
    assert 0 < quality["bm25"]["MRR@10"] <= 1
    validation = json.loads((run / "model/teacher/validation/quality.json").read_text())
    is_worse = validation["teacher"]["MRR@10"] < validation["bm25"]["MRR@10"]
    assert ("the teacher ranks worse than BM25" in first.stderr) == is_worse
    assert (validation["split"], validation["queries"]) == ("held out", 5)
    assert quality == json.loads((run / "model/teacher/quality/quality.json").read_text())
    line = f"MRR@10 {quality['teacher']['MRR@10']:.4f}, where BM25's own order has {quality['bm25']['MRR@10']:.4f}"
    assert line in (run / "report.md").read_text()
    assert first.stderr.count("encode bm25 (judged)") == 1  # the run's own index is the one that is mined
    assert {path.name for path in (run / "model/teacher").iterdir()} == {
        "negatives", "model", "scores", "quality", "validation",
    }  # fmt: skip
    heard = json.loads((run / "model/finetuned/history.json").read_text())[0]
    assert ("kl" in heard) != is_worse and ("rank" in heard)  # one that is worse is not learned from

    measured = {f"q{number}" for number in range(N_TRAIN, N)}
    mined = {pair.query_id for pair in read_scores(run / "model/teacher/negatives/negatives.trec")}
    assert not mined & measured
    scored = {(pair.query_id, pair.doc_id) for pair in read_scores(run / "model/teacher/scores/scores.trec")}
    assert {("q7", "d 7"), ("q8", "d8")} <= scored
    facts = json.loads((run / "model/teacher/model/training.json").read_text())
    assert (
        facts["pairs"] + facts["validation_queries"] == N_TRAIN - 5
    )  # those that validate fine-tuning do not train it

    again = lexigraft("run", *model_options(data, run, *IN_A_RUN))
    assert again.json["teacher"] == quality
    for stage in ("mine negatives", "teacher", "teacher's scores", "measure the teacher", "finetune"):
        assert f"{stage}: done before" in again.stderr
    fewer = lexigraft("run", *model_options(data, run, *IN_A_RUN, "teacher.measured_queries=0"))
    assert "teacher" not in fewer.json
    assert "finetune: done before" in fewer.stderr


@pytest.mark.integration
def test_finetune_makes_the_index_that_is_mined_and_a_forced_teacher_is_trained_again(data, tmp_path, lexigraft):
    run = tmp_path / "run"
    changes = (
        *IN_A_RUN, "teacher.measured_queries=0", "teacher.epochs=0.5", "teacher.steps=0", "mlm.steps=2", "mlm.batch=8",
        "mlm.length=8",
    )  # fmt: skip
    call = model_options(data, run, *changes)
    first = lexigraft("finetune", *call)
    assert first.status == 0, first.stderr
    assert (run / "judged/bm25/index/manifest.json").is_file()
    model = run / "model/teacher/model"
    assert json.loads((model / "training.json").read_text())["steps"] == 6  # half of 11 batches of 8, rounded
    trained = read_manifest(run / "model/mlm").fingerprint
    assert read_manifest(model).config["trained"] == trained  # it begins where the language model ended
    before = read_manifest(model).fingerprint
    again = lexigraft("run", *call[:4], "--from", "teacher", *call[4:])
    assert again.status == 0, again.stderr
    assert "pretrain: done before" in again.stderr
    assert "teacher: done before" not in again.stderr
    assert again.stderr.count("index bm25 (judged)") == 1
    assert read_manifest(model).fingerprint == before  # the same bytes again


@pytest.mark.integration
def test_several_processes_train_the_teacher_that_one_trains(data, tmp_path, lexigraft):
    changes = (*IN_A_RUN, "teacher.dropout=0.0", "teacher.batch=7", "teacher.measured_queries=3")
    alone = lexigraft("finetune", *model_options(data, tmp_path / "one", *changes))
    assert alone.status == 0, alone.stderr
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    call = [*launcher, "-m", "lexigraft", "finetune", *map(str, model_options(data, tmp_path / "two", *changes))]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    both = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert both.returncode == 0, both.stderr
    one, two = (json.loads((tmp_path / run / "model/teacher/model/history.json").read_text()) for run in ("one", "two"))
    assert [values["loss"] for values in two] == pytest.approx([values["loss"] for values in one], abs=1e-3)
    assert two[-1]["MRR@10"] == pytest.approx(one[-1]["MRR@10"], abs=0.3)  # four queries, near ties


def test_bad_input(data, trained, tmp_path, lexigraft):
    collection, negatives, backbone = data

    def refused(call, said):
        answer = lexigraft(*call)
        assert (answer.status, answer.stderr.count("\n")) == (2, 1), answer.stderr
        assert said in answer.stderr

    out = tmp_path / "out"
    refused(train((collection, tmp_path / "none.trec", backbone), out), "there is no such file")
    refused(train((collection, negatives, tmp_path), out), "no backbone can be loaded from")
    refused(train(data, out, "--steps", 0), "--steps 0 trains nothing")
    refused(train(data, out, "--n-negatives", 99), "at most teacher.depth, which is 50")
    refused(train(data, out, "--document-length", 60), "reads at most 40 subwords")
    refused(train(data, collection), "exists and is not a Lexigraft artifact")
    other = tmp_path / "other.trec"
    other.write_text("q1 Q0 x1 1 1 t\n")
    answer = lexigraft(*train((collection, other, backbone), out))
    assert (answer.status, "are its ids the collection's?" in answer.stderr) == (2, True)
    bare = tmp_path / "bare"
    write_collection(bare, [Document("d", "", "word")], [Query("q", "word")], {"test": [Qrel("q", "d", 1)]})
    refused(train((bare, negatives, backbone), out), "has no training judgements (qrels/train.tsv)")
    refused(score(data, backbone, out), "is no cross-encoder: it gives no score")
    refused(score(data, trained[0], out, "--query-length", 4), "are given both, or neither")
    refused(score(data, trained[0], out, "--with-positives", "dev"), "has no judgements for split 'dev'")
    refused(score(data, trained[0], tmp_path), "is a folder; give the name of a file")
    answer = lexigraft(*score((collection, other, backbone), trained[0], out))
    assert (answer.status, "no pair names a document of stems" in answer.stderr) == (2, True)
    assert not out.exists()
    damaged = tmp_path / "damaged"
    shutil.copytree(trained[0], damaged)
    config = json.loads((damaged / "config.json").read_text())
    (damaged / "config.json").write_text(json.dumps({**config, "id2label": {"0": "a", "1": "b"}, "label2id": {}}))
    refused(score(data, damaged, out), "gives 2 labels, and a teacher one score")
