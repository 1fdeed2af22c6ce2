"""BM25 grafted by vectors of one's own: in a run, as an index, within a cost, and refused where they do not fit."""

import json

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.e2e.test_pairs import TOPICS, command, texts
from tests.topics import write_tiny_bert

SUBJECTS = {"cars": "engine wheel brake fuel motor", "cooking": "oven flour sugar butter dough"}
N = 60


def subject_of(number):
    return list(SUBJECTS)[number % 2]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Sixty texts, each with two words of its subject and one of its own, and vectors that tell the subjects apart."""
    folder, chance = tmp_path_factory.mktemp("grafted"), np.random.default_rng(1)
    documents = []
    for number in range(N):
        words = chance.choice(SUBJECTS[subject_of(number)].split(), 2, replace=False)
        documents.append(Document(f"d{number}", "", f"{words[0]} {words[1]} number{number}"))
    queries = [Query("q0", "motor"), Query("q1", "dough")]
    qrels = {"test": [Qrel(f"q{n % 2}", f"d{n}", 1) for n in range(N)]}
    write_collection(folder / "texts", documents, queries, qrels)
    towards = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    vectors = np.array([towards[n % 2] for n in range(N)]) + 0.2 * chance.normal(size=(N, 4))
    np.save(folder / "vectors.npy", vectors.astype(np.float32))
    return folder


def test_a_run_finds_what_neighbours_say(world, lexigraft):
    out, vectors = world / "run", f"grafted.vectors={world / 'vectors.npy'}"
    made = lexigraft(
        "run", "--data", world / "texts", "--out", out, "--set", vectors, "--set", "prune.budget=none", "--json"
    )
    rows = {row["system"]: row for row in made.json["rows"]}
    assert list(rows) == ["bm25", "bm25-plain", "grafted"]
    assert rows["grafted"]["R@100"] == 1.0 > rows["bm25"]["R@100"]  # all thirty of a subject, not those of one word
    assert made.json["recommended"]["system"] == "grafted"
    contents = json.loads((out / "run.json").read_text())
    assert contents["recommended"] == "grafted"
    hits = lexigraft("search", "--run", out, "motor", "--k", "30", "--json").json["hits"]
    assert {int(hit["doc_id"][1:]) % 2 for hit in hits} == {0} and len(hits) == 30
    again = lexigraft("run", "--data", world / "texts", "--out", out, "--set", vectors, "--set", "prune.budget=none")
    assert "graft (judged): done before" in again.stderr


@pytest.mark.parametrize("cost", [0.5, 1.0])
def test_an_index_within_a_cost(world, lexigraft, tmp_path, cost):
    call = ("--data", world / "texts", "--set", f"grafted.vectors={world / 'vectors.npy'}")
    plain = lexigraft("index", "--data", world / "texts", "--out", tmp_path / "plain", "--json").json
    made = lexigraft("index", *call, "--grafted", "--out", tmp_path / "index", "--set", f"prune.cost={cost}", "--json")
    assert "searchable now, by BM25" in made.stderr
    assert made.json["postings"] <= 1.3 * cost * plain["postings"]  # rare words cost less than their postings
    assert not list(tmp_path.glob(".index*"))
    if cost == 1.0:  # for half of it, words that a dozen documents hold are too dear here
        shown = lexigraft("search", "--index", tmp_path / "index", "oven", "--json").json["hits"]
        assert {int(hit["doc_id"][1:]) % 2 for hit in shown} == {1}
    shards = ("--set", f"prune.cost={cost}", "--shards", "2")
    assert lexigraft("index", *call, "--grafted", "--out", tmp_path / "again", *shards).status == 0
    for file in ("stream.npy", "entries.npy", "lengths.npy", "terms.utf8"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "index" / file).read_bytes()


def test_what_does_not_fit_is_refused(world, lexigraft, tmp_path):
    np.save(tmp_path / "few.npy", np.ones((7, 4), np.float32))
    call = ("index", "--data", world / "texts", "--out", tmp_path / "index", "--grafted")
    few = lexigraft(*call, "--set", f"grafted.vectors={tmp_path / 'few.npy'}")
    assert (few.status, "7 rows, and there are 60 documents" in few.stderr) == (2, True)
    order = np.random.default_rng(1).permutation(N)
    np.save(tmp_path / "shuffled.npy", np.load(world / "vectors.npy")[order])
    shuffled = lexigraft(*call, "--set", f"grafted.vectors={tmp_path / 'shuffled.npy'}")
    assert (shuffled.status, "do not seem to be those of the documents" in shuffled.stderr) == (2, True)
    absent = lexigraft(*call, "--set", "grafted.vectors=nowhere.npy")
    assert (absent.status, "nowhere.npy" in absent.stderr) == (2, True)
    both = lexigraft("index", "--vectors", tmp_path, "--out", tmp_path / "other", "--grafted")
    assert (both.status, "--grafted adds to BM25's words" in both.stderr) == (2, True)
    scratch = lexigraft(*call, "--set", "model.backbone=scratch")
    assert (scratch.status, "nothing can be grafted" in scratch.stderr) == (2, True)
    alone = lexigraft("run", "--data", world / "texts", "--out", tmp_path / "run", "--set", "run.systems=grafted")
    assert (alone.status, "grafted adds to the words of bm25" in alone.stderr) == (2, True)
    assert lexigraft("search", "--index", tmp_path / "index", "oven", "--json").json["hits"]  # BM25's is there


def test_one_document_and_documents_alike(lexigraft, tmp_path):
    for n in (1, 3):
        write_collection(tmp_path / f"same{n}", [Document(f"d{at}", "", "the same words") for at in range(n)])
        np.save(tmp_path / f"same{n}.npy", np.ones((n, 3), np.float32))
        made = lexigraft(
            "index", "--data", tmp_path / f"same{n}", "--out", tmp_path / f"index{n}", "--grafted", "--set",
            f"grafted.vectors={tmp_path / f'same{n}.npy'}",
        )  # fmt: skip
        assert made.status == 0, made.stderr
        assert len(lexigraft("search", "--index", tmp_path / f"index{n}", "words", "--json").json["hits"]) == n


def test_beside_a_model_the_views_that_are_measured_are_grafted(lexigraft, tmp_path):
    """Of a run with two views: pairs that are made train, judged queries over all documents are measured."""
    (tmp_path / "bert").mkdir()
    write_tiny_bert(tmp_path / "bert", [topic[0][:3] for topic in TOPICS])
    documents = list(texts())
    judged = [Query(f"q{number}", f"n{number}w1") for number in range(30)]
    write_collection(tmp_path / "judged", documents, judged, {"test": [Qrel(f"q{n}", f"d{n}", 1) for n in range(30)]})
    vectors = np.random.default_rng(2).normal(size=(len(documents), 4)).tolist()
    parquet.write_table(
        pyarrow.table({"id": [one.doc_id for one in documents], "vector": vectors}), tmp_path / "v.parquet"
    )
    out, file = tmp_path / "run", tmp_path / "v.parquet"
    more = ("--set", 'run.systems=["bm25", "grafted", "esplade-doc"]', "--set", f"grafted.vectors={file}")
    made = lexigraft(*command(tmp_path, "judged", out, "--set", "model.queries=words", *more))
    assert made.status == 0, made.stderr
    assert {row["system"] for row in made.json["rows"]} == {"bm25", "grafted", "esplade-doc"}
    assert made.json["grafted"]["neighbours"] == 10
    assert (out / "full/grafted/evaluation-qk0-dk0").is_dir() and (out / "judged/grafted/index").is_dir()


def test_an_index_that_is_there_stays_until_the_better_one_is(world, lexigraft, tmp_path):
    call = ("index", "--data", world / "texts", "--out", tmp_path / "index", "--grafted", "--set")
    assert lexigraft(*call, f"grafted.vectors={world / 'vectors.npy'}").status == 0
    before = (tmp_path / "index/stream.npy").read_bytes()
    np.save(tmp_path / "few.npy", np.ones((7, 4), np.float32))
    refused = lexigraft(*call, f"grafted.vectors={tmp_path / 'few.npy'}")
    assert refused.status == 2 and (tmp_path / "index/stream.npy").read_bytes() == before
    again = lexigraft(*call, f"grafted.vectors={world / 'vectors.npy'}")
    assert again.status == 0 and "searchable now, by BM25" not in again.stderr
    assert (tmp_path / "index/stream.npy").read_bytes() == before
    assert lexigraft("search", "--index", tmp_path / "index", "oven", "--json").json["hits"][0]["text"]
