"""`run --pairs auto`: a model is trained on texts alone, chosen by made queries, and never measured by what trained."""

import json

import numpy as np
import pytest

import lexigraft as lg
from lexigraft import whole_run
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.made_pairs.making import PairMaker
from lexigraft.stages.layout import RunFolder
from tests.killed import Killed, dies_at_call
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


def test_bm25_is_searchable_before_anything_else_and_stays_so(place, lexigraft, tmp_path, monkeypatch):
    out, words = tmp_path / "run", ("--json", "n7w1 n7w2")
    with monkeypatch.context() as patch:
        patch.setattr(PairMaker, "write", dies_at_call(PairMaker.write, 1))
        with pytest.raises(Killed):
            lexigraft(*command(place, "texts", out))
    assert lexigraft("search", "--run", out, *words).json["hits"][0]["doc_id"] == "d7"
    with monkeypatch.context() as patch:
        patch.setattr(whole_run, "choose_operating_points", dies_at_call(whole_run.choose_operating_points, 1))
        with pytest.raises(Killed):
            lexigraft(*command(place, "texts", out))
    assert (out / "full/esplade-doc/index").is_dir()  # which may be worse: nothing was compared yet
    assert RunFolder(out).searchable(None) == ("full", "bm25")


def test_what_the_time_is_not_enough_for_is_left_out(place, lexigraft, tmp_path):
    given = [str(one) for one in command(place, "texts", tmp_path / "run")]
    at = given.index("finetune.steps=4")  # who says how long to train is not asked about the time
    answer = lexigraft(*given[: at - 1], *given[at + 1 :], "--minutes", "0.01")
    assert answer.status == 0, answer.stderr
    assert "left out: esplade-doc, blend: 0 s of the time were left" in " ".join(answer.stderr.split())
    assert {row["system"] for row in answer.json["rows"]} == {"bm25"}
    found = lexigraft("search", "--run", tmp_path / "run", "--json", "n7w1 n7w2").json
    assert found["hits"][0]["doc_id"] == "d7"


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
    assert "test of pairs" not in side_by_side.stdout
    grid = lexigraft("evaluate", "--run", out, "--system", "esplade-doc", "--qk", 2, "--dk", 0, "--dk", 5, "--json")
    assert grid.status == 0, grid.stderr
    rows = [row for row in grid.json["rows"] if row["system"] == "bm25"]
    assert [row["MRR@10"] for row in rows] == [1]  # over the view that the report measures
    assert lg.evaluate(lg.Retriever.open(out, system="bm25")).means["MRR@10"] == 1
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
