"""Hard negatives end to end: mined from an index, trained with beside a teacher's scores, watched in TensorBoard."""

import json
import sys

import numpy as np
import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.core.installing import install_extra
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.measure.trec import read_run

WORDS = "amber birch cedar delta ember flint grove haven iris jade kelp lotus".split()
N = 60


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Document i and query i share words; a query also matches its document's neighbours, which are hard negatives."""
    rng = np.random.default_rng(0)
    documents, queries, train = [], [], []
    for number in range(N):
        words = rng.choice(WORDS, 4, replace=False)
        documents.append(Document(f"d {number}" if number == 7 else f"d{number}", "", " ".join(words)))
        queries.append(Query(f"q{number}", " ".join(words[:2])))
        train.append(Qrel(f"q{number}", documents[-1].doc_id, 1))
    folder = tmp_path_factory.mktemp("data") / "words"
    qrels = {"train": [*train[:50], Qrel("q0", "d1", 1), Qrel("q0", "d2", 0)], "test": train[50:]}
    write_collection(folder, documents, queries, qrels)
    return folder


@pytest.fixture
def mined(collection, tmp_path, lexigraft):
    assert lexigraft("index", "--data", collection, "--out", tmp_path / "index").status == 0
    file = tmp_path / "deep/negatives.trec"
    answer = lexigraft(
        "mine", "--index", tmp_path / "index", "--data", collection, "--out", file, "--depth", 5, "--json"
    )
    assert answer.status == 0, answer.stderr
    return file, answer.json


def test_mined_negatives_are_what_search_finds_without_the_relevant(mined, collection, tmp_path, lexigraft):
    file, facts = mined
    rankings = {ranking.query_id: ranking.doc_ids for ranking in read_run(file)}
    assert set(rankings) <= {f"q{number}" for number in range(50)}  # those of training
    assert facts["queries"] == 50
    assert facts["documents"] == sum(map(len, rankings.values()))
    assert facts["without"] == 50 - len(rankings)
    queries = [json.loads(line) for line in (collection / "queries.jsonl").read_text().splitlines()]
    for query in queries[:10]:
        found = lexigraft("search", "--index", tmp_path / "index", query["text"], "--k", 7, "--json").json["hits"]
        name = query["_id"].replace("q", "d")
        relevant = {"d 7" if name == "d7" else name} | ({"d1"} if name == "d0" else set())
        expected = [hit["doc_id"].replace(" ", "%20") for hit in found if hit["doc_id"] not in relevant][:5]
        assert list(rankings[query["_id"]]) == expected
    assert not list(file.parent.glob(".*"))  # nothing half-written beside it


def finetune(lexigraft, collection, run, *changes):
    settings = [
        "model.backbone=scratch", "model.layers=1", "vocab.min_count=1", "pretrain.steps=1", "pretrain.batch=8",
        "finetune.steps=4", "finetune.batch=8", "finetune.frozen_layers=0", "finetune.validate_every=4",
        "finetune.joint_flops=0.01", *changes,
    ]  # fmt: skip
    options = [part for setting in settings for part in ("--set", setting)]
    return lexigraft("finetune", "--data", collection, "--out", run, "--json", *options)


@pytest.mark.integration
def test_a_model_learns_from_negatives_and_a_teacher(mined, collection, tmp_path, lexigraft):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    file, _ = mined
    lines = [
        f"{ranking.query_id}\t{doc}\t{-place}"
        for ranking in read_run(file)
        for place, doc in enumerate(ranking.doc_ids)
    ]
    lines += [f"q{number}\td{number}\t9.5" for number in range(50)]
    teacher = tmp_path / "teacher.tsv"
    teacher.write_text("\n".join(lines) + "\n")
    losses = [
        "finetune.n_negatives=2", "finetune.margin_mse=0.05", "finetune.kl=0.1", "finetune.dual=true",
        "finetune.mask_kl=0.1", "finetune.qk=3", "finetune.dk=4", "finetune.df_flops=0.01", "finetune.l1_q=0.001",
        f"finetune.teacher={teacher}",
    ]  # fmt: skip
    run, board = tmp_path / "run", tmp_path / "board"
    answer = finetune(
        lexigraft, collection, run, *losses, f"finetune.negatives={file}", f"finetune.tensorboard={board}"
    )
    assert answer.status == 0, answer.stderr
    assert "no score for 2 of 49 training pairs and 0 of" in answer.stderr  # of "d 7", and of d1 for q0
    history = json.loads((run / "model/finetuned/history.json").read_text())
    assert {"rank", "rank_unmasked", "mask_kl", "margin_mse", "kl", "df_flops", "l1_q", "pressure"} <= set(history[0])
    assert "R@10" in history[-1]
    events = EventAccumulator(str(board)).Reload()
    for name in ("loss", "margin_mse", "L0_d"):
        written = events.Scalars(name)
        assert [event.step for event in written] == [1, 2, 3, 4]
        assert [event.value for event in written] == pytest.approx([values[name] for values in history])
    assert [event.step for event in events.Scalars("R@10")] == [4]

    moved = file.rename(tmp_path / "moved.trec")
    again = finetune(lexigraft, collection, run, *losses, f"finetune.negatives={moved}", "finetune.chunk=3")
    assert "finetune: done before" in again.stderr  # the same content under another name is the same model
    before = read_manifest(run / "model/finetuned").fingerprint
    moved.write_text("\n".join(moved.read_text().splitlines()[:-3]) + "\n")
    changed = finetune(lexigraft, collection, run, *losses, f"finetune.negatives={moved}")
    assert changed.status == 0
    assert "finetune: done before" not in changed.stderr
    assert read_manifest(run / "model/finetuned").fingerprint != before

    remined = lexigraft("mine", "--run", run, "--data", collection, "--out", tmp_path / "x")
    assert (remined.status, "has no index yet" in remined.stderr) == (2, True)


def test_a_run_is_mined_with_the_system_asked_for(collection, tmp_path, lexigraft):
    run = tmp_path / "run"
    assert (
        lexigraft("run", "--data", collection, "--out", run, "--set", 'run.systems=["bm25","bm25-plain"]').status == 0
    )
    answer = lexigraft(
        "mine", "--run", run, "--system", "bm25-plain", "--data", collection, "--out", tmp_path / "n.trec"
    )
    assert "training queries" in answer.stdout
    assert f"finetune.negatives={tmp_path / 'n.trec'}" in answer.stdout
    assert read_run(tmp_path / "n.trec")


def test_bad_input(collection, tmp_path, lexigraft):
    def refused(*arguments):
        answer = lexigraft("mine", *arguments)
        assert answer.status == 2
        return answer.stderr

    out = ("--out", tmp_path / "n.trec")
    assert "give either --run RUN or --index INDEX" in refused("--data", collection, *out)
    assert "there is no run" in refused("--data", collection, "--run", tmp_path / "none", *out)
    assert "there is no index" in refused("--data", collection, "--index", tmp_path / "none", *out)
    assert lexigraft("index", "--data", collection, "--out", tmp_path / "index").status == 0
    index = ("--index", tmp_path / "index")
    assert "has only one" in refused("--data", collection, *index, "--system", "bm25", *out)
    assert "is a folder" in refused("--data", collection, *index, "--out", tmp_path)
    bare = tmp_path / "bare"
    write_collection(bare, [Document("d", "", "word")], [Query("q", "word")])
    assert "no training judgements" in refused("--data", bare, *index, *out)
    write_collection(bare, [Document("d", "", "word")], [Query("q", "word")], {"train": [Qrel("q", "d", 0)]})
    assert "nothing to mine for" in refused("--data", bare, *index, *out)
    assert not (tmp_path / "n.trec").exists()
    answer = finetune(lexigraft, collection, tmp_path / "run", "finetune.n_negatives=1", "finetune.negatives=nowhere")
    assert (answer.status, "finetune.negatives = 'nowhere': there is no such file" in answer.stderr) == (2, True)
    assert not (tmp_path / "run/model/pretrained").exists()  # said before anything was trained


def test_a_run_mines_the_same_negatives_itself(mined, collection, tmp_path, lexigraft):
    run, drawn = tmp_path / "run", ("finetune.n_negatives=2", "finetune.negatives_depth=5")
    answer = finetune(lexigraft, collection, run, *drawn, "finetune.negatives=bm25")
    assert answer.status == 0, answer.stderr
    assert (run / "model/negatives/negatives.trec").read_text() == mined[0].read_text()
    made = read_manifest(run / "model/finetuned").fingerprint
    answer = finetune(lexigraft, collection, run, *drawn, f"finetune.negatives={mined[0]}")
    assert answer.status == 0, answer.stderr
    assert read_manifest(run / "model/finetuned").fingerprint == made  # the same negatives: nothing to train again
    assert "finetune: done before" in answer.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "finetune.negatives = '{}' is empty"),
        (b"\xff\xfe\x00", "is UTF-16, not UTF-8"),
        (b"q1 d1\n", "expected 'query document score'"),
    ],
)
def test_a_file_of_another_kind_is_told_before_anything_is_trained(content, says, collection, tmp_path, lexigraft):
    file = tmp_path / "negatives"
    file.write_bytes(content)
    answer = finetune(lexigraft, collection, tmp_path / "run", "finetune.n_negatives=1", f"finetune.negatives={file}")
    assert (answer.status, says.format(file) in answer.stderr) == (2, True), answer.stderr
    assert not (tmp_path / "run/model/vocabulary").exists()


def test_a_file_that_would_not_be_used_is_not_taken_in_silence(collection, tmp_path, lexigraft):
    run, named = tmp_path / "run", ("finetune.negatives=n.trec", "finetune.teacher=t.tsv")
    answer = finetune(lexigraft, collection, run, named[0])
    assert "finetune.negatives = 'n.trec' is not allowed: empty, unless finetune.n_negatives is 1" in answer.stderr
    answer = finetune(lexigraft, collection, run, *named, "finetune.n_negatives=1")
    assert "finetune.teacher = 't.tsv' is not allowed: empty, unless finetune.margin_mse or kl" in answer.stderr
    assert (answer.status, run.exists()) == (2, False)


def test_tensorboard_is_asked_for_before_the_first_step(collection, tmp_path, lexigraft, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    answer = finetune(lexigraft, collection, tmp_path / "run", f"finetune.tensorboard={tmp_path / 'board'}")
    assert answer.status == 2
    missing = f"needs the package 'tensorboard', which is not installed; {install_extra('tensorboard')}"
    assert missing in answer.stderr


def test_a_collapse_is_stopped_with_its_remedy(collection, tmp_path, lexigraft):
    strong = ("finetune.l1_d=1e6", "finetune.ramp=0", "finetune.steps=40", "finetune.learning_rate=0.05")
    answer = finetune(lexigraft, collection, tmp_path / "run", *strong, "model.own_words=0")
    assert answer.status == 2
    assert "activated terms collapsed at step" in answer.stderr
    assert "Lower the regularisers (finetune.joint_flops, flops_q, flops_d, l1_q, l1_d, df_flops)" in answer.stderr
    assert not (tmp_path / "run/model/finetuned").exists()
