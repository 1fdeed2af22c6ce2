"""TILDE end to end on a tiny backbone made here: it learns, expands, and models and BM25 read what it wrote."""

import gzip
import json
import shutil

import numpy as np
import pytest
import torch

from lexigraft.core.artifact import hash_file, read_manifest
from lexigraft.core.sealed_json import write_sealed
from lexigraft.core.types import Document, Query
from lexigraft.data.write import write_collection
from lexigraft.inference.reading import read_documents
from lexigraft.learn.tilde import training as tilde_pipeline
from lexigraft.model.encoder import open_encoder
from lexigraft.model.masked_lm import load_masked_lm
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.vectors.store import open_vectors
from lexigraft.vectors.text_encoder import TextEncoder
from lexigraft.vocab.expansions import join_expansion
from tests.killed import Killed, dies_at_call
from tests.topics import topics_of, write_tiny_bert, write_topics

TOPICS = topics_of("kur", "mel", "tos", "vip")
N_TRAIN = 96


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    words = ["the", *(word for topic in TOPICS for word in topic)]
    return write_tiny_bert(tmp_path_factory.mktemp("backbone"), words, max_position_embeddings=64)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Topics, with a stop-word in every text."""
    folder = tmp_path_factory.mktemp("data") / "topics"
    return write_topics(folder, TOPICS, N_TRAIN, n_test=16, worded="the {}".format)


def train(backbone, collection, out, *more):
    settings = ["tilde.warmup=2", "tilde.document_length=16", "tilde.query_length=12", "tilde.checkpoint_every=20"]
    options = ["--steps", 100, "--batch", 16, "--learning-rate", 0.01, *(x for s in settings for x in ("--set", s))]
    return ["tilde", "train", "--backbone", backbone, "--data", collection, "--out", out, *options, "--json", *more]


@pytest.fixture(scope="module")
def trained(backbone, collection, tmp_path_factory):
    from lexigraft.core.config import load_settings

    out = tmp_path_factory.mktemp("tilde") / "model"
    changes = [
        "tilde.steps=100", "tilde.batch=16", "tilde.learning_rate=0.01", "tilde.warmup=2", "tilde.document_length=16",
        "tilde.query_length=12", "tilde.checkpoint_every=20", "model.layers=0",
    ]  # fmt: skip
    tilde_pipeline.make_tilde(str(backbone), str(collection), out, load_settings(None, changes))
    return out


@pytest.fixture(scope="module")
def expansions(trained, collection):
    from lexigraft.core.settings import Settings
    from lexigraft.learn.tilde.expansion import expand_collection

    out = trained.parent / "expansions.jsonl"
    expand_collection(trained, str(collection), out, 3, 30, Settings())
    return out


def test_it_learns_and_says_so(trained, backbone, collection, lexigraft):
    again = lexigraft(*train(backbone, collection, trained))
    assert "tilde: done before" in again.stderr
    facts = again.json
    assert facts["loss"] < facts["first_loss"] - 2
    # It began knowing how frequent words are: by the entropy of that, not by .69 a term.
    assert facts["first_loss"] < 0.3 * 2 * 0.69 * facts["valid_terms"]
    assert (facts["labelled"], facts["added"], facts["steps"]) == (92, 0, 100)  # one in twenty queries validates
    assert facts["fingerprint"] == load_masked_lm(str(trained), 0, 0).subwords().fingerprint
    assert facts["valid_terms"] == facts["terms"] - 5 - 2  # special ones; "the" and "a"
    assert not list(trained.parent.glob(".model*"))


def test_expansions_are_new_words_of_the_topic(trained, expansions, collection, tmp_path, lexigraft):
    lines = [json.loads(line) for line in expansions.read_text().splitlines()]
    assert [line["id"] for line in lines] == [f"d{number}" for number in range(N_TRAIN + 16)]
    right = 0
    for number, line in enumerate(lines):
        own = json.loads((collection / "corpus.jsonl").read_text().splitlines()[number])["text"].split()
        added = line["text"].split()
        assert len(added) <= 3
        assert not set(added) & {*own, "the"}
        right += sum(word in TOPICS[number % len(TOPICS)] for word in added)
    assert right > 0.9 * 3 * len(lines)
    call = ("tilde", "expand", "--model", trained, "--data", collection, "--top", 30, "--json")
    kept = lexigraft(*call, "--keep", 3, "--out", expansions)
    assert kept.json["kept_words"] == pytest.approx(3)
    everything = lexigraft(*call, "--keep", 0, "--out", tmp_path / "all.jsonl").json
    assert everything["kept_words"] == everything["new_words"] == pytest.approx(kept.json["new_words"])
    assert everything["documents"] == len(lines)
    refused = lexigraft(*call, "--keep", 2, "--out", expansions)
    assert (refused.status, "was made with keep = 3, and 2 is asked for" in refused.stderr) == (2, True)


def test_killed_expansion_goes_on_and_ends_with_the_same_bytes(trained, collection, tmp_path, lexigraft, monkeypatch):
    from lexigraft.learn.tilde import expansion as module

    monkeypatch.setattr(module, "DOCUMENTS_AT_ONCE", 10)

    def call(name, keep=3):
        options = ("--model", trained, "--data", collection, "--top", 30, "--keep", keep, "--json")
        return ("tilde", "expand", *options, "--out", tmp_path / name)

    whole = lexigraft(*call("whole.jsonl")).json
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, "choose_words", dies_at_call(module.choose_words, 3))
        lexigraft(*call("stopped.jsonl"))
    assert not (tmp_path / "stopped.jsonl").exists()
    with (tmp_path / ".stopped.jsonl.expanding/part").open("a") as part:
        part.write('{"id": "d2')  # what a kill in the middle of a line leaves
    answer = lexigraft(*call("stopped.jsonl"))
    assert "expanding: continuing after 20 documents" in answer.stderr
    assert (tmp_path / "stopped.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert {**answer.json, "expansions": ""} == {**whole, "expansions": ""}
    assert not list(tmp_path.glob(".*"))
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, "choose_words", dies_at_call(module.choose_words, 3))
        lexigraft(*call("other.jsonl"))
    other = lexigraft(*call("other.jsonl", keep=2))  # what was begun is of another recipe
    assert (other.status, "continuing" in other.stderr, other.json["documents"]) == (0, False, whole["documents"])


def test_bm25_finds_by_them(expansions, collection, tmp_path, lexigraft):
    found = lexigraft(
        "expand", "doc2query", "--data", collection, "--generated", expansions, "--out", tmp_path / "x", "--json"
    ).json["rows"]  # fmt: skip
    plain, expanded = (row["R@100"] for row in found)
    assert expanded > plain + 0.2


def test_a_killed_training_continues(backbone, collection, tmp_path, lexigraft, monkeypatch):
    from lexigraft.train.language import tilde as module

    def die_at_7(step, *rest, rows_of_step=module.rows_of_step):
        if step == 7:
            raise Killed
        return rows_of_step(step, *rest)

    call = train(backbone, collection, tmp_path / "out", "--steps", 8, "--set", "tilde.checkpoint_every=3")
    with monkeypatch.context() as patch:
        patch.setattr(module, "rows_of_step", die_at_7)
        with pytest.raises(Killed):
            lexigraft(*call)
    assert not (tmp_path / "out").exists()
    assert "tilde: continuing after step 6 of 8" in lexigraft(*call).stderr
    lexigraft(*train(backbone, collection, tmp_path / "whole", "--steps", 8))
    weights = [load_masked_lm(str(tmp_path / name), 0, 0).weight for name in ("out", "whole")]
    torch.testing.assert_close(*weights)


def test_the_first_of_a_ranking_count_as_positives(backbone, collection, tmp_path, lexigraft):
    """Of q0's ranking two are taken: its own document, which is labelled, and another. q100 does not train."""
    run = tmp_path / "run.trec"
    run.write_text("".join(f"{query} Q0 {doc} {rank} {9 - rank} x\n" for query, doc, rank in [
        ("q0", "d8", 3), ("q0", "d0", 1), ("q0", "d4", 2), ("q1", "d5", 1), ("q1", "nowhere", 2), ("q100", "d100", 1),
        ("other", "d1", 1),
    ]))  # fmt: skip
    more = ("--positives", run, "--n-positives", 2, "--set", "finetune.validate_every=0", "--steps", 1)
    answer = lexigraft(*train(backbone, collection, tmp_path / "out", *more))
    assert answer.status == 0, answer.stderr
    assert (answer.json["labelled"], answer.json["added"]) == (N_TRAIN, 2)
    assert "1 of 4 documents are left out, they are not in the collection (such as nowhere)" in answer.stderr
    assert "1 lines are left out, their query is unknown (such as other)" in answer.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--set", "tilde.document_length=65"), "reads at most 64 subwords, not 65"),
        (("--steps", 0), "nothing would be trained; give --steps or --epochs"),
        (("--epochs", -1), "tilde.epochs = -1.0 is not allowed: 0 or more"),
        (("--set", "tilde.keep=300"), "tilde.keep = 300 is not allowed: at most tilde.top, which is 200"),
        (("--positives", "no.trec"), "there is no such file"),
        (("--backbone", "nothing-here/at-all"), "no backbone can be loaded"),
    ],
)
def test_bad_settings(change, message, backbone, collection, tmp_path, lexigraft):
    answer = lexigraft(*train(backbone, collection, tmp_path / "out", *change))
    assert (answer.status, message in answer.stderr.replace("\n", " ")) == (2, True), answer.stderr
    assert not (tmp_path / "out").exists()


def test_bad_input(trained, backbone, collection, tmp_path, lexigraft):
    def refused(*arguments):
        answer = lexigraft(*arguments)
        assert answer.status == 2, arguments
        return answer.stderr.replace("\n", " ")

    run = tmp_path / "run.trec"
    run.write_text("x Q0 d1 1 2.0 t\n")
    call = train(backbone, collection, tmp_path / "out")
    assert "no line names a training query" in refused(*call, "--positives", run)
    run.write_text("q1 Q0 elsewhere 1 2.0 t\n")
    assert "none of its documents (such as elsewhere) is in the collection" in refused(*call, "--positives", run)
    write_collection(tmp_path / "bare", [Document("d1", "", "kura")], [Query("q1", "kura")], {"test": []})
    assert "has no training judgements" in refused(*train(backbone, tmp_path / "bare", tmp_path / "out"))
    out = ("--data", collection, "--out", tmp_path / "x.jsonl")
    assert "is no TILDE model: it has no readable manifest" in refused("tilde", "expand", "--model", backbone, *out)
    assert "keep = 9 is not allowed: at most top, which is 8" in refused(
        "tilde", "expand", "--model", trained, *out, "--keep", 9, "--top", 8
    )
    assert "written as plain .jsonl" in refused("tilde", "expand", "--model", trained, *out[:3], tmp_path / "x.tsv")
    other = shutil.copytree(trained, tmp_path / "other")
    change_files(other, "tilde.json", fingerprint="0" * 64)
    assert "vocabular" in refused("tilde", "expand", "--model", other, *out)
    assert not (tmp_path / "x.jsonl").exists()


def change_files(artifact, name, **changes):
    """Another artifact, which says something else of itself."""
    facts, manifest = (json.loads((artifact / file).read_text()) for file in (name, "manifest.json"))
    (artifact / name).write_text(json.dumps({**facts, **changes}))
    del manifest["files"][name]
    write_sealed(artifact / "manifest.json", manifest)


def running(collection, backbone, run, *more):
    settings = [
        'run.systems=["bm25","esplade"]', f"model.backbone={backbone}", "model.layers=0", "model.alpha=1",
        "vocab.min_count=1", "vocab.stemmer=none", "model.own_words=0", "pretrain.steps=0", "finetune.steps=2",
        "finetune.batch=16", "finetune.validate_every=0", "evaluate.timing_runs=1", "prune.budgets=[[0,0]]",
        "finetune.joint_flops=0", *more,
    ]  # fmt: skip
    return ["run", "--data", collection, "--out", run, "--json", *(part for s in settings for part in ("--set", s))]


def test_a_run_with_tilde(collection, backbone, tmp_path, lexigraft):
    run, tilde = tmp_path / "run", ("tilde.epochs=2", "tilde.batch=16", "tilde.keep=3", "tilde.document_length=16")
    answer = lexigraft(*running(collection, backbone, run, *tilde))
    assert answer.status == 0, answer.stderr
    facts = json.loads((run / "model/expansions/expansions.json").read_text())
    assert (facts["keep"], facts["documents"]) == (3, N_TRAIN + 16)
    assert open_encoder(run / "model/finetuned").meta.expansion_length == 40
    vectors, finetuned = read_manifest(run / "judged/esplade/vectors"), read_manifest(run / "model/finetuned")
    file = read_manifest(run / "model/expansions").files["expansions.jsonl"]
    assert vectors.parents["expansions"] == finetuned.parents["expansions"] == file["sha256"]
    assert not list((run / "model").glob("*-texts")) + list((run / "model").glob("*-checkpoint"))
    fewer = lexigraft("finetune", *running(collection, backbone, run, *tilde, "tilde.keep=1")[1:]).stderr
    assert "tilde: done before" in fewer
    assert "expansions (judged): done before" not in fewer
    assert "finetune: done before" not in fewer
    both = lexigraft(*running(collection, backbone, run, *tilde, "model.expansions=x.jsonl"))
    assert "model.expansions = 'x.jsonl' is not allowed: empty, unless tilde.steps" in both.stderr


def test_a_run_that_is_killed_while_it_expands_goes_on(collection, backbone, tmp_path, lexigraft, monkeypatch):
    from lexigraft.learn.tilde import expansion as module

    monkeypatch.setattr(module, "DOCUMENTS_AT_ONCE", 10)
    run, tilde = tmp_path / "run", ("tilde.steps=2", "tilde.document_length=16")
    call = running(collection, backbone, run, *tilde)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, "choose_words", dies_at_call(module.choose_words, 3))
        lexigraft(*call)
    assert (run / "model/expansions-unfinished").is_dir() and not (run / "model/expansions").exists()
    answer = lexigraft(*call)
    assert answer.status == 0, answer.stderr
    assert "expanding: continuing after 20 documents" in answer.stderr
    lines = (run / "model/expansions/expansions.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"d{number}" for number in range(N_TRAIN + 16)]
    assert not (run / "model/expansions-unfinished").exists()


@pytest.mark.integration
def test_a_run_from_tilde_on(collection, backbone, tmp_path, lexigraft):
    call = running(collection, backbone, tmp_path / "run", "tilde.steps=2", "tilde.document_length=16")
    assert lexigraft(*call).status == 0
    assert "encode esplade (judged): done before" in lexigraft(*call).stderr
    again = lexigraft(*call, "--from", "tilde").stderr
    assert "pretrain: done before" in again
    assert "tilde: done before" not in again
    assert again.count("tilde: time went to") == 1  # asked for twice, made once


@pytest.fixture(scope="module")
def reading_model(collection, backbone, expansions, tmp_path_factory):
    """A uniCOIL that reads a file of expansions: what it adds to a text can only come from there."""
    from lexigraft.core.config import load_settings
    from lexigraft.whole_run import train_until

    out = tmp_path_factory.mktemp("reading") / "run"
    more = (f"model.expansions={expansions}", "model.expansion_length=2", "model.head=unicoil")
    settings = load_settings(None, running(collection, backbone, out, *more)[7::2])
    return train_until(str(collection), out, settings, "finetune")


def test_a_model_reads_a_file_of_expansions(reading_model, expansions, collection, tmp_path, lexigraft):
    encoder = open_encoder(reading_model)
    assert encoder.meta.expansion_length == 2
    assert read_manifest(reading_model).parents["expansions"] == hash_file(expansions)
    added = json.loads(expansions.read_text().splitlines()[0])["text"]
    document = json.loads((collection / "corpus.jsonl").read_text().splitlines()[0])["text"]
    read = read_documents(encoder.meta, encoder.reader(), [join_expansion(document, added)], 16)
    alone = read_documents(encoder.meta, encoder.reader(), [document], 16)
    spelt = [number for (number,) in encoder.tokenizer.spell(added.split())]
    assert read.aligned.subwords.tolist() == [*alone.aligned.subwords[:-1].tolist(), *spelt[:2], 3]
    assert [encoder.vocabulary.terms[term] for term in read.aligned.terms[-3:-1]] == added.split()[:2]
    np.testing.assert_array_equal(read.bags.terms, alone.bags.terms)
    call = ("encode", "--data", collection, "--model", reading_model, "--json", "--out")
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(expansions.read_bytes()))
    assert lexigraft(*call, tmp_path / "with", "--expansions", packed).stderr == ""
    vectors = open_vectors(tmp_path / "with")
    assert vectors.titles[0] == document
    terms, _ = TextEncoder(TorchNetwork(encoder), are_queries=False).encode([join_expansion(document, added)])[0]
    np.testing.assert_array_equal(vectors.matrix.row(0)[0], terms)
    without = lexigraft(*call, tmp_path / "without")
    assert "was trained on documents with expansions, and none are given" in without.stderr
    own = open_vectors(tmp_path / "without").matrix.row(0)[0]
    assert sorted(set(terms.tolist()) - set(own.tolist())) == sorted(spelt[:2])


def test_files_of_expansions_that_do_not_fit(reading_model, collection, backbone, tmp_path, lexigraft):
    def refused(*changes):
        settings = running(collection, backbone, tmp_path / "run", *changes)
        answer = lexigraft("finetune", *settings[1:])
        assert answer.status == 2, changes
        return answer.stderr.replace("\n", " ")

    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "text": "kura"}\n')
    assert "has no text for any of the 112 documents" in refused(f"model.expansions={other}")
    assert "there is no such file" in refused(f"model.expansions={tmp_path / 'no.jsonl'}")
    copy = shutil.copytree(reading_model, tmp_path / "copy")
    change_files(copy, "encoder.json", expansion_length=0)
    call = ("encode", "--data", collection, "--model", copy, "--out", tmp_path / "v", "--expansions", other)
    assert "was trained without expansions and reads none" in lexigraft(*call).stderr
    other.write_text('{"id": "d1", "text": "kura"}\n')
    longer = (f"model.expansions={other}", "model.expansion_length=60")
    assert "60 are more than" in refused(*longer)
