"""`run --pairs auto`: a model is trained on texts alone, chosen by made queries, and never measured by what trained."""

import json

import numpy as np
import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.topics import topics_of, write_tiny_bert

TOPICS = topics_of("kur", "mel", "tos", "vip", "zan", "fod", "gix", "bru")
N = 260

pytestmark = pytest.mark.usefixtures("one_thread")


def texts(n=N):
    """A title names three words of a topic, its text three others, and words of its own."""
    draw = np.random.default_rng(0)
    for number in range(n):
        words = draw.permutation(TOPICS[number % len(TOPICS)])
        own = " ".join(f"n{number}w{place}" for place in range(6))
        yield Document(f"d{number}", f"{' '.join(words[:3])} n{number}", f"{' '.join(words[3:])} {own} n{number}")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp("pairs")
    write_collection(root / "texts", texts())
    judged = [Query(f"q{number}", f"n{number}w1") for number in range(30)]
    qrels = {"test": [Qrel(f"q{number}", f"d{number}", 1) for number in range(30)]}
    write_collection(root / "judged", texts(), judged, qrels)
    write_collection(root / "few", texts(20))
    (root / "bert").mkdir()
    write_tiny_bert(root / "bert", [topic[0][:3] for topic in TOPICS])
    return root


def command(place, data, out, *more):
    settings = [
        f"model.backbone={place / 'bert'}", "model.layers=1", "model.alpha=1", "vocab.min_count=1",
        "vocab.stemmer=none", "lexical.stemmer=none", "finetune.steps=4", "finetune.batch=16", "pretrain.steps=1",
        "finetune.joint_flops=0.001", "evaluate.timing_runs=1", "prune.budgets=[[0, 0], [2, 3]]",
    ]  # fmt: skip
    set_ = [part for one in settings for part in ("--set", one)]
    return ["run", "--data", place / data, "--out", out, "--pairs", "auto", "--json", *set_, *more]


def test_texts_alone_train_a_model_and_are_measured_by_made_queries(place, lexigraft, tmp_path):
    out = tmp_path / "run"
    answer = lexigraft(*command(place, "texts", out))
    assert answer.status == 0, answer.stderr
    report = answer.json
    assert report["collection"]["name"] == "texts"
    assert report["collection"]["split"] == "made"
    assert report["pairs"]["measured"] and report["pairs"]["made"]["train"]["title"] > 50
    assert {row["system"] for row in report["rows"]} == {"bm25", "esplade-doc", "blend"}
    assert report["recommended"]["system"] in ("bm25", "blend")
    assert "made queries" in report["recommended"]["why"]
    assert "made dev queries" in report["operating_points"]["esplade-doc"]["why"]
    assert "The numbers above are of made queries" in (out / "report.md").read_text()
    assert {"corpus.jsonl", "queries.jsonl", "qrels", "pairs.json"} <= {file.name for file in (out / "pairs").iterdir()}
    for system in ("bm25", "esplade-doc", "blend"):  # the documents as they are, with their titles
        found = lexigraft("search", "--run", out, "--system", system, "--json", "n7w1 n7w2").json
        assert found["hits"][0]["doc_id"] == "d7", system
    again = lexigraft(*command(place, "texts", out))
    assert again.status == 0
    for stage in ("make pairs", "finetune of esplade-doc", "choose blend", "choose (qk, dk) of blend"):
        assert f"{stage}: done before" in again.stderr
    shown = lexigraft("report", "--run", out)
    assert "made queries over" in " ".join(shown.stdout.split())


def test_judged_queries_are_measured_over_all_documents_and_nothing_else_is(place, lexigraft, tmp_path):
    out = tmp_path / "run"
    answer = lexigraft(*command(place, "judged", out))
    assert answer.status == 0, answer.stderr
    report = answer.json
    assert report["collection"]["split"] == "test" and report["collection"]["queries"] == 30
    assert not report["pairs"]["measured"]
    assert "made queries:" not in (out / "report.md").read_text()
    bm25 = next(row for row in report["rows"] if row["system"] == "bm25")
    assert bm25["MRR@10"] == 1  # every query is a word that its document alone has
    side_by_side = lexigraft("evaluate", "--run", out, "--json")
    assert side_by_side.status == 0, side_by_side.stderr
    assert '"bm25"' in side_by_side.stdout and '"blend"' in side_by_side.stdout
    made = {json.loads(line)["_id"] for line in (out / "pairs/queries.jsonl").read_text().splitlines()}
    assert all(name.startswith("made:") for name in made)


def test_too_few_texts_are_refused_and_bm25_stays_possible(place, lexigraft, tmp_path):
    out = tmp_path / "run"
    answer = lexigraft(*command(place, "few", out))
    assert answer.status == 2
    assert "few: 20 documents" in answer.stderr and "200 are needed" in answer.stderr
    assert not (out / "pairs").exists()
    assert lexigraft("run", "--data", place / "few", "--out", out).status == 0


def test_what_has_pairs_of_its_own_makes_none(lexigraft, tmp_path):
    answer = lexigraft("run", "--data", "pydocs", "--out", tmp_path / "run", "--pairs", "auto", "--set",
                       "data.packages=json")  # fmt: skip
    assert answer.status == 2
    assert "pydocs has pairs of its own" in answer.stderr


def test_a_blend_needs_bm25_and_a_model_that_is_asked_by_words(place, lexigraft, tmp_path):
    answer = lexigraft(*command(place, "texts", tmp_path / "run"), "--set", 'run.systems=["bm25", "blend"]')
    assert answer.status == 2
    assert "blend needs bm25 and a model" in " ".join(answer.stderr.split())
