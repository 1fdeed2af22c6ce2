"""Training with all there is to remember, stopped anywhere: the next call ends with the same bytes."""

import json

import numpy as np
import pytest

from lexigraft.core.artifact import read_manifest
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.model.encoder import open_encoder
from lexigraft.train.loop import Loop
from tests.families import STEMS, write_backbone
from tests.killed import Killed, dies_at_call

N = 48


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """(backbone, collection, a run of negatives, a teacher's scores of pairs and of most negatives)."""
    rng, root = np.random.default_rng(0), tmp_path_factory.mktemp("data")
    documents, queries, pairs, run, scores = [], [], [], [], []
    for number in range(N):
        words = [STEMS[number % len(STEMS)] + ending for ending in rng.permutation(list("aeiou"))]
        documents.append(Document(f"d{number}", "", " ".join(words[:3]) + f" n{number % 7}"))
        queries.append(Query(f"q{number}", " ".join(words[2:4])))
        pairs.append(Qrel(f"q{number}", f"d{number}", 1))
        scores.append(f"q{number}\td{number}\t5")
        for place, other in enumerate(rng.choice(np.delete(np.arange(N), number), 4, replace=False)):
            run.append(f"q{number} Q0 d{other} {place + 1} {-place} by-hand")
            if place < 3:
                scores.append(f"q{number}\td{other}\t{-place}")
    write_collection(root / "topics", documents, queries, {"train": pairs[:40], "test": pairs[40:]})
    (root / "negatives.trec").write_text("\n".join(run) + "\n")
    (root / "teacher.tsv").write_text("\n".join(scores) + "\n")
    backbone = write_backbone("bert", root / "backbone", loud=5.0)
    return backbone, root / "topics", root / "negatives.trec", root / "teacher.tsv"


def options(data, out, *changes):
    backbone, collection, negatives, teacher = data
    settings = [
        f"model.backbone={backbone}", "model.layers=1", "vocab.min_count=1", "vocab.stemmer=none",
        "pretrain.steps=4", "pretrain.batch=8", "pretrain.warmup=0", "pretrain.checkpoint_every=2",
        "pretrain.validate_every=3", "pretrain.validation_texts=2", "pretrain.dropout=0.1",
        "finetune.steps=5", "finetune.batch=8", "finetune.warmup=0", "finetune.checkpoint_every=2",
        "finetune.validate_every=3", "finetune.dropout=0.1", "finetune.chunk=16", "finetune.joint_flops=0.001",
        "finetune.df_flops=0.01", "finetune.ramp=4", "finetune.qk=6", "finetune.dk=8", "finetune.dual=true",
        f"finetune.negatives={negatives}", "finetune.n_negatives=2", f"finetune.teacher={teacher}", "finetune.kl=0.5",
        "finetune.margin_mse=0.01", "model.inflate=30", "model.alpha=auto", *changes,
    ]  # fmt: skip
    return ["--data", collection, "--out", out, "--json", *(part for one in settings for part in ("--set", one))]


HEADS = {"grafted": (), "plain": ("model.head=plain", "model.pooling=sum", "model.inflate=2")}


@pytest.fixture(params=["grafted", pytest.param("plain", marks=pytest.mark.integration)])
def undisturbed(request, data, tmp_path, lexigraft):
    changes = HEADS[request.param]
    answer = lexigraft("finetune", *options(data, tmp_path / "undisturbed", *changes))
    assert answer.status == 0, answer.stderr
    return changes, model_bytes(tmp_path / "undisturbed")


def model_bytes(run):
    files = ("model.safetensors", "history.json", "alpha.json", "kept.json")
    found = ((part, name) for part in ("pretrained", "finetuned") for name in files)
    return {
        (part, name): (run / "model" / part / name).read_bytes()
        for part, name in found
        if (run / "model" / part / name).is_file()
    }


def kill_after_saving(monkeypatch, n_saves):
    """The process ends when so many checkpoints have been written."""
    save, saves = Loop._save, []

    def save_and_die(self, *arguments):
        save(self, *arguments)
        saves.append(self.name)
        if len(saves) == n_saves:
            raise Killed

    monkeypatch.setattr(Loop, "_save", save_and_die)


@pytest.mark.integration
def test_killed_anywhere_it_ends_with_the_same_bytes(undisturbed, data, tmp_path, lexigraft, monkeypatch):
    changes, expected = undisturbed
    assert ("finetuned", "alpha.json") in expected
    assert (b"later_loss" in expected["pretrained", "history.json"]) == (not changes)
    run = tmp_path / "run"
    call = ["finetune", *options(data, run, *changes)]
    for n_saves in (1, 2):  # in pre-training; then, in the next call, in fine-tuning, twice
        with monkeypatch.context() as patch, pytest.raises(Killed):
            kill_after_saving(patch, n_saves)
            lexigraft(*call)
    assert len(json.loads((run / "model/finetune-checkpoint/history.json").read_text())["history"]) == 4
    said = lexigraft(*call)
    assert said.status == 0, said.stderr
    assert "finetune: continuing after step 4 of 5" in said.stderr
    assert said.stderr.count("alpha 1:") == 1  # of all three calls; the probes are not run again
    assert model_bytes(run) == expected
    kept = {"vocabulary", "pretrained", "finetuned", "finetuned.inference"}
    assert {path.name for path in (run / "model").iterdir()} == kept


def test_killed_in_a_probe_it_chooses_again(data, tmp_path, lexigraft, monkeypatch):
    from lexigraft.learn import choose_alpha

    run = tmp_path / "run"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(choose_alpha, "finetune", dies_at_call(choose_alpha.finetune, 2))
        lexigraft("finetune", *options(data, run, "finetune.steps=2"))
    assert not (run / "model/finetune-alpha").exists()
    answer = lexigraft("finetune", *options(data, run, "finetune.steps=2"))
    assert answer.status == 0, answer.stderr
    assert "alpha 1:" in answer.stderr


def test_alpha_is_chosen_by_what_ranks(data, tmp_path, lexigraft):
    """Without the loss among the documents of the batch there is still that of the teacher."""
    changes = ("finetune.in_batch=0", "finetune.dual=false", "finetune.validate_every=0", "finetune.steps=3")
    answer = lexigraft("finetune", *options(data, tmp_path / "run", *changes))
    assert answer.status == 0, answer.stderr
    choice = json.loads((tmp_path / "run/model/finetuned/alpha.json").read_text())
    best = min(choice["probes"], key=lambda probe: (probe["last_loss"], probe["alpha"]))
    assert choice["alpha"] == best["alpha"] > 1


def test_texts_half_read_or_of_another_recipe_are_read_again(data, tmp_path, lexigraft, monkeypatch):
    run = tmp_path / "run"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_after_saving(patch, 1)
        lexigraft("finetune", *options(data, run))
    texts = run / "model/pretrain-texts"
    before = read_manifest(texts).files
    largest = max(texts.glob("*"), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-1])
    (run / "model/pretrain-texts.draft-1").mkdir()
    again = lexigraft("pretrain", *options(data, run))
    assert (again.status, "made again" in again.stderr) == (0, True), again.stderr
    assert read_manifest(texts).files == before
    shorter = lexigraft("pretrain", *options(data, run, "model.document_length=5"))
    assert shorter.status == 0, shorter.stderr
    assert read_manifest(texts).files != before
    assert open_encoder(run / "model/pretrained").meta.head == "grafted"
