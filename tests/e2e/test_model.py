"""The learned model, end to end on a tiny backbone made here: it trains, resumes to the same weights, and searches."""

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from lexigraft.core.artifact import read_manifest
from lexigraft.core.config import load_settings
from lexigraft.core.errors import VocabularyMismatchError
from lexigraft.core.types import Document, Vocabulary
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index
from lexigraft.model import precision
from lexigraft.model.encoder import open_encoder
from lexigraft.model.torch_network import TorchNetwork
from lexigraft.retrieve.retriever import Retriever
from lexigraft.stages.finished_run import open_run
from lexigraft.vectors.model_queries import ModelQueryEncoder, open_model_queries
from lexigraft.vocab.aligned import ordinary_subwords
from lexigraft.whole_run import run as pipeline_run
from tests.shared import copy_of_made_once, made_once
from tests.topics import topics_of, write_tiny_bert, write_topics

DONE = {"pretrain": "pretrained", "finetune": "finetuned"}
TOPICS = topics_of("kur", "mel", "tos", "vip", "zan", "fod", "gix", "bru")


@pytest.fixture(scope="module")
def backbone(tmp_path_factory):
    """A BERT of two layers and width 32 whose WordPiece knows letters and the topics' stems."""
    return made_once(tmp_path_factory, "backbone", write_small_bert)


def write_small_bert(folder):
    folder.mkdir()
    write_tiny_bert(folder, [topic[0][:3] for topic in TOPICS])


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A query names three words of a topic, its document three others: own words mislead, learned ones help."""
    return made_once(tmp_path_factory, "topics", lambda folder: write_topics(folder, TOPICS, n_train=140, n_test=20))


def options(collection, backbone, run):
    settings = [
        'run.systems=["bm25","esplade"]', f"model.backbone={backbone}", "model.layers=0", "model.alpha=1",
        "vocab.min_count=1", "vocab.stemmer=none", "model.own_words=0",
        "finetune.head_rate=1", "finetune.validate_every=20", "finetune.frozen_layers=0",
        "pretrain.steps=30", "pretrain.batch=16", "pretrain.checkpoint_every=10", "pretrain.learning_rate=0.003",
        "finetune.steps=60", "finetune.batch=16", "finetune.checkpoint_every=20", "finetune.learning_rate=0.003",
        "finetune.joint_flops=0.01", "finetune.dropout=0", "finetune.aim=0", "finetune.dual=false",
        "finetune.qk=96", "finetune.dk=160", "evaluate.timing_runs=1", "prune.budgets=[[0,0],[2,3]]",
    ]  # fmt: skip
    return [
        "run",
        "--data",
        str(collection),
        "--out",
        str(run),
        "--json",
        *(part for s in settings for part in ("--set", s)),
    ]


@pytest.fixture(scope="module")
def finished(collection, backbone, tmp_path_factory):
    """Trained with one thread, so that a process of its own with one thread trains the same weights."""
    given = options(collection, backbone, "")
    settings = load_settings(None, [given[at + 1] for at, part in enumerate(given) if part == "--set"])

    def train(run):
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            pipeline_run(str(collection), run, settings)
        finally:
            torch.set_num_threads(before)

    return copy_of_made_once(tmp_path_factory, "run", train)


def one_thread():
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def test_it_learns_what_words_cannot_match(finished, lexigraft):
    rows = {(row["system"], row["qk"]): row for row in lexigraft("report", "--run", finished, "--json").json["rows"]}
    assert rows["esplade", 0]["R@10"] > rows["bm25", 0]["R@10"] + 0.1
    assert rows["esplade", 2]["L0_q"] <= 2
    assert rows["esplade", 2]["FLOPS"] < rows["esplade", 0]["FLOPS"]


def test_a_pruning_within_a_budget_is_chosen_by_held_out_queries(finished, lexigraft):
    found = lexigraft("evaluate", "--run", finished, "--budget", "50", "--qk", "0,2", "--dk", "0,3", "--json").json
    budget = found["budget"]
    assert (found["system"], found["split"]) == ("esplade", "test")
    assert budget["validated_on"] == "training queries that were held out"
    assert budget["queries"] < 20
    best = max(budget["rows"], key=lambda row: (row["MRR@10"], -row["FLOPS"]))
    assert budget["chosen"] == [best["qk"], best["dk"]]
    assert found["rows"][-1].items() >= {"system": "esplade", "qk": best["qk"], "dk": best["dk"]}.items()


def test_what_a_budget_chose_can_be_searched(finished, lexigraft):
    said = lexigraft("evaluate", "--run", finished, "--budget", "50", "--qk", "0,2", "--dk", "0,3").stdout
    command = shlex.split(
        next(line for line in said.splitlines() if line.startswith("Search so: "))[len("Search so: ") :]
    )
    assert command[:3] == ["lexigraft", "search", "--run"]
    assert lexigraft(*command[1:], TOPICS[0][0], "--json").json["hits"]


def test_a_run_is_searched_for_another_cost(finished, lexigraft):
    import lexigraft as lg

    query, own = TOPICS[0][0], (finished / "judged/esplade/choice/manifest.json").read_bytes()
    for option, value in (("--cost", 0.9), ("--budget", "bm25"), ("--budget", 5)):
        answer = lexigraft("search", "--run", finished, query, option, value, "--json")
        assert answer.json["hits"] and "prunings at no more than" in answer.stderr
    assert (finished / "judged/esplade/choice/manifest.json").read_bytes() == own  # the run's own choice stays
    hits = lexigraft("search", "--run", finished, query, "--cost", 0.9, "--json").json["hits"]
    assert [(hit["rank"], hit["doc_id"], hit["score"]) for hit in hits] == [
        hit[:3] for hit in lg.Run(finished).retriever(cost=0.9).search(query)
    ]
    for options, message in (
        (("--cost", 0.5, "--qk", 3), "leave out --qk and --dk"),
        (("--cost", 0.5, "--budget", "bm25"), "give either a cost"),
        (("--cost", 0.5, "--system", "bm25"), "bm25 is not pruned"),
        (("--cost", -1), "a cost of -1 is not allowed"),
        (("--budget", "cheap"), "--budget 'cheap' is not allowed"),
    ):
        refused = lexigraft("search", "--run", finished, query, *options)
        assert refused.status == 2 and message in refused.stderr


def test_search_uses_the_model_by_default(finished, lexigraft):
    query = " ".join(TOPICS[0][:2])
    hits = lexigraft("search", "--run", finished, query, "--k", 5, "--json").json["hits"]
    assert sum(int(hit["doc_id"][1:]) % len(TOPICS) == 0 for hit in hits) >= 3
    why = lexigraft("explain", "--run", finished, query, hits[0]["doc_id"], "--json").json
    assert sum(item["contribution"] for item in why["contributions"]) == pytest.approx(hits[0]["score"])


@pytest.mark.integration
@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_killed_in_training_it_ends_with_the_same_weights(stage, finished, collection, backbone, tmp_path):
    run = tmp_path / "run"
    command = [sys.executable, "-m", "lexigraft", *options(collection, backbone, run)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=one_thread())
    while process.poll() is None and not (run / f"model/{stage}-checkpoint/manifest.json").is_file():
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    checkpoint = read_manifest(run / f"model/{stage}-checkpoint")
    assert checkpoint.config["parents"] == read_manifest(finished / "model" / DONE[stage]).parents
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread())
    assert f"{stage}: continuing after step" in answer.stderr
    for part in ("pretrained", "finetuned"):
        weights = (run / "model" / part / "model.safetensors").read_bytes()
        assert weights == (finished / "model" / part / "model.safetensors").read_bytes()
    assert not list((run / "model").glob("*-checkpoint"))


def test_bad_input(collection, backbone, tmp_path, lexigraft):
    def refused(*changes):
        answer = lexigraft(
            *options(collection, backbone, tmp_path / "run"), *(part for c in changes for part in ("--set", c))
        )
        assert answer.status == 2
        return answer.stderr

    itself = lexigraft("vocab", "learn", *options(collection, backbone, collection)[1:])
    assert (itself.status, "is the collection itself" in itself.stderr) == (2, True)
    (tmp_path / "empty").mkdir()
    assert "no backbone can be loaded from" in refused(f"model.backbone={tmp_path / 'empty'}")
    assert "has 2 layers, not 9" in refused("model.layers=9")
    assert "reads at most 512 subwords, not 1000" in refused("model.document_length=1000")
    assert "no word of the corpus can be a term" in refused("vocab.min_count=100000")
    assert "the loss became" in refused("pretrain.learning_rate=1e30")
    assert "activated terms collapsed" in refused("pretrain.steps=1", "finetune.joint_flops=1e9", "finetune.ramp=0")
    bare = tmp_path / "bare"
    write_collection(bare, [Document("d", "", "word")])
    answer = lexigraft(*options(bare, backbone, tmp_path / "bare-run"))
    assert (answer.status, "no training judgements" in answer.stderr) == (2, True)


def test_a_model_of_another_vocabulary_is_refused(finished):
    with pytest.raises(VocabularyMismatchError, match="were made with different vocabularies"):
        open_model_queries(finished / "model/finetuned", Vocabulary(["other", "words"]), "")


def test_an_index_of_a_former_model_is_refused(finished, collection, backbone, tmp_path, lexigraft):
    """Trained again with other settings, the model no longer writes queries that fit the documents indexed before."""
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    changed = [*options(collection, backbone, run)[1:], "--set", "finetune.steps=10"]
    assert lexigraft("finetune", *changed).status == 0
    answer = lexigraft("search", "--run", run, TOPICS[0][0])
    assert (answer.status, "was trained again after this index was made" in answer.stderr) == (2, True)
    assert lexigraft("search", "--run", run, "--system", "bm25", TOPICS[0][0]).status == 0


def test_one_stage_at_a_time(collection, backbone, finished, tmp_path, lexigraft):
    """The commands of single stages leave what `run` leaves; encode and index then take it to another collection."""
    _, *rest = options(collection, backbone, tmp_path / "run")
    words = lexigraft("vocab", "learn", *rest).json
    assert words["terms"] == len(set(np.concatenate(TOPICS))) + 7
    assert lexigraft("pretrain", *rest).json["loss"] > 0
    tuned = lexigraft("finetune", *rest)
    assert "vocabulary: done before" in tuned.stderr
    assert "pretrain: done before" in tuned.stderr
    assert tuned.json["R@10"] > 0.5
    for part in ("vocabulary", "pretrained"):
        theirs, ours = (read_manifest(run / "model" / part) for run in (finished, tmp_path / "run"))
        assert ours.parents == theirs.parents
    other = tmp_path / "other"
    write_collection(other, [Document("x1", "", " ".join(TOPICS[0])), Document("x2", "", " ".join(TOPICS[1]))])
    model = tmp_path / "run/model/finetuned"
    assert (
        lexigraft("encode", "--data", other, "--model", model, "--out", tmp_path / "v", "--json").json["documents"] == 2
    )
    assert (
        lexigraft("index", "--vectors", tmp_path / "v", "--out", tmp_path / "deep/er/i", "--json").json["documents"]
        == 2
    )
    hits = lexigraft("search", "--index", tmp_path / "deep/er/i", TOPICS[1][0], "--json").json["hits"]
    assert hits[0]["doc_id"] == "x2"
    refused = lexigraft(
        "encode", "--data", other, "--model", tmp_path / "run/model/pretrained", "--out", tmp_path / "w"
    )
    assert (refused.status, "fine-tune it first" in refused.stderr) == (2, True)
    assert lexigraft("index", "--out", tmp_path / "x").status == 2
    assert "holds a model, not an index" in lexigraft("index", "--vectors", tmp_path / "v", "--out", model).stderr


def test_half_the_bits_give_nearly_the_same_vectors(finished, monkeypatch):
    """What machines with bf16 units and without compute is the same but for rounding, on either kind."""
    texts = [" ".join(topic[:3]) for topic in TOPICS]
    encoder = ModelQueryEncoder(TorchNetwork(open_encoder(finished / "model/finetuned")))
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: False)
    exact = [dict(zip(*row, strict=True)) for row in encoder.encode_all(texts)]
    monkeypatch.setattr(precision, "has_fast_bf16", lambda: True)
    half = [dict(zip(*row, strict=True)) for row in encoder.encode_all(texts)]
    assert half != exact  # the bits were halved
    for one, other in zip(exact, half, strict=True):
        assert all(abs(one.get(term, 0.0) - other.get(term, 0.0)) < 0.05 for term in one.keys() | other.keys())


def test_a_text_without_words_is_empty(finished):
    session = Retriever.open(finished / "judged/esplade/index")
    for text in ("", "?!", "..."):
        assert (session.terms(text), session.search(text)) == ([], [])


def test_explain_text_tells_own_from_added(finished, lexigraft):
    found = lexigraft("explain", "--text", TOPICS[2][0], "--run", finished, "--json").json["terms"]
    assert all(item["own"] == (item["term"] == TOPICS[2][0]) for item in found)
    assert not all(item["own"] for item in found)
    assert "added" in lexigraft("explain", "--text", TOPICS[2][0], "--run", finished).stdout
    assert "its own" in lexigraft("explain", TOPICS[2][0], "--run", finished, "--system", "bm25").stdout
    assert lexigraft("explain", "--run", finished).status == 2


def test_terms_come_from_words_of_either_text(finished, lexigraft, tmp_path):
    query = " ".join(TOPICS[2][:2])
    doc_id = lexigraft("search", "--run", finished, query, "--k", 1, "--json").json["hits"][0]["doc_id"]
    page = tmp_path / "page.html"
    call = ("explain", "--run", finished, query, doc_id)
    why = lexigraft(*call, "--json", "--html", page).json
    assert sum(item["points"] for item in why["contributions"]) == why["points"]
    assert why["points"] * why["scale"] == why["score"]
    assert sum(item["share"] for item in why["contributions"]) == pytest.approx(1)
    held = set(open_index(finished / "judged/esplade/index").titles[int(doc_id[1:])].split())
    for item in why["contributions"]:
        assert item["query_from"]["token"] in query.split()
        assert item["document_from"]["token"] in held
        assert item["query_own"] == (item["term"] in query.split())
        assert item["document_own"] == (item["term"] in held)
    assert all(word in page.read_text() for word in query.split())
    shown = lexigraft(*call)
    assert (shown.status, "from there" in shown.stdout) == (0, True)
    (said,) = shown.stderr.splitlines()  # with what it is searched, and why
    assert "whole vectors: no pruning costs at most 0.5 of BM25's" in said


def test_two_systems_side_by_side(finished, lexigraft):
    text = f"{TOPICS[1][0]} {TOPICS[1][3]}"  # words that BM25's stemmer leaves as they are
    both = lexigraft("explain", "--run", finished, "--text", text, "--against-system", "bm25", "--json").json
    assert both["counts"]["both"] == 2  # BM25 has the words themselves, the model these and more
    assert (both["counts"]["second"], both["counts"]["first"] > 0) == (0, True)
    assert 0 < both["common_share"] < 1
    assert both["second"]["name"].startswith("bm25 of")
    shown = lexigraft("explain", "--run", finished, "--text", text, "--against-system", "bm25").stdout
    assert "first only" in shown
    assert "they agree on" in shown


def test_an_index_without_its_model_says_what_to_do(finished, lexigraft, tmp_path):
    index = tmp_path / "moved" / "index"
    shutil.copytree(finished / "judged/esplade/index", index)
    answer = lexigraft("explain", "--index", index, "--text", "kura")
    assert (answer.status, answer.stderr.count("\n")) == (2, 1)
    assert "put the model back" in answer.stderr


def test_a_text_is_not_read_beyond_what_the_model_reads(finished):
    encoder = ModelQueryEncoder(TorchNetwork(open_encoder(finished / "model/finetuned")))
    text = " ".join([TOPICS[0][0]] * 500 + [TOPICS[1][0]])
    traced = encoder.trace_query(text, encoder.encode(text)[0])
    assert (len(traced.spans), traced.n_read < 500) == (501, True)
    assert {source.word for source in traced.sources.values()} <= set(range(traced.n_read))


def test_a_model_from_scratch(collection, tmp_path, lexigraft):
    call = [
        *options(collection, "scratch", tmp_path / "run"),
        "--set",
        "finetune.steps=4",
        "--set",
        "pretrain.steps=2",
    ]
    answer = lexigraft(*call)
    assert answer.status == 0, answer.stderr
    assert (tmp_path / "run/model/backbone/tokenizer.json").is_file()
    assert '"backbone": "scratch"' in (tmp_path / "run/model/finetuned/encoder.json").read_text()
    assert [row["system"] for row in answer.json["rows"]][-1] == "esplade"


def test_a_full_disk_is_said_and_leaves_nothing_half_written(collection, backbone, tmp_path, lexigraft):
    """A limit on file sizes stands for the full disk: the checkpoint cannot be written."""
    call = options(collection, backbone, tmp_path / "run")
    assert lexigraft("vocab", "learn", *call[1:]).status == 0
    before, heard = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, before[1]))
    try:
        answer = lexigraft(*call)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)
    assert answer.status == 2
    assert "could not be written" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (tmp_path / "run/model/pretrained").exists()
    assert not list((tmp_path / "run/model").glob("*draft*"))


def test_the_report_says_what_part_of_a_document_is_read(finished, lexigraft):
    encoder = open_encoder(finished / "model/finetuned")
    report = lexigraft("report", "--run", finished, "--json").json
    (facts,) = report["read_of_documents"].values()
    texts = [document.contents for document in open_run(finished).collection.documents()]
    _, _, whole = encoder.reader().read_measured(texts, encoder.meta.document_length)
    read = ordinary_subwords(encoder.reader().read(texts, encoder.meta.document_length))
    assert (facts["documents"], facts["length"]) == (len(texts), encoder.meta.document_length)
    assert facts["read_whole"] == sum(some == all_ for some, all_ in zip(read, whole, strict=True))
    assert facts["shares_read"] == pytest.approx((read / whole).sum())
    line = f"of {len(texts):,} documents are read whole"
    assert line in (finished / "report.md").read_text()
    assert line in " ".join(lexigraft("report", "--run", finished).stdout.split())


def test_terms_before_and_after_a_cut(finished, lexigraft):
    rows = [row for row in lexigraft("report", "--run", finished, "--json").json["rows"] if row["system"] == "esplade"]
    meta = open_encoder(finished / "model/finetuned").meta
    for row in rows:
        cut_q, cut_d = row["L0_q"] < row["L0_q_before"], row["L0_d"] < row["L0_d_before"]
        assert [bool(kept) for kept in row["kept"]] == [cut_q or row["qk"] > 0, cut_d or row["dk"] > 0]
        whole = (row["qk"], row["dk"]) == (0, 0)
        assert not whole or set(row["kept"]) <= {0, meta.query_terms, meta.document_terms}
    assert rows[0]["L0_d_before"] == rows[1]["L0_d_before"]
