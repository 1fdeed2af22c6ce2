"""Work of one collection is never replaced by that of another unasked, and never a file of the user's."""

import json
import shutil
from pathlib import Path

import pytest

import lexigraft as lg
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import LexigraftError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.e2e.test_bad_input import one_line_error
from tests.e2e.test_model import backbone  # noqa: F401
from tests.e2e.test_model import collection as topics  # noqa: F401
from tests.e2e.test_wrong_models import train

LOCK = Path(".lock")
BM25 = ("--set", "run.systems=bm25")


@pytest.fixture
def other(tmp_path):
    documents = [Document("x1", "", "apple banana"), Document("x2", "", "cherry")]
    write_collection(tmp_path / "fruit", documents, [Query("q", "apple")], {"test": [Qrel("q", "x1", 1)]})
    return tmp_path / "fruit"


@pytest.fixture
def run(collection, tmp_path, lexigraft):
    """A run with what stands for a trained model."""
    folder = tmp_path / "run"
    assert lexigraft("run", "--data", collection, "--out", folder, *BM25).status == 0
    with write_artifact(folder / "model/finetuned", Manifest("model", 1, {})) as draft:
        (draft / "weights").write_text("dear")
    return folder


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def add_document(collection):
    with (collection / "corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "new", "title": "", "text": "an updated collection"}) + "\n")


def test_a_run_of_another_collection_is_refused(run, collection, other, lexigraft):
    shutil.rmtree(collection / "qrels")  # then the report does not count documents
    assert lexigraft("run", "--data", collection, "--out", run, *BM25).status == 0
    before = contents(run)
    for command in (("run",), ("vocab", "learn"), ("pretrain",), ("finetune",)):
        answer = lexigraft(*command, "--data", other, "--out", run)
        facts = (f"{run} holds the run of another collection: {collection}", "6 documents; systems: bm25")
        one_line_error(answer, *facts, "with a trained model", "give another --out, or --replace")
    with pytest.raises(LexigraftError, match="replace=True"):
        lg.run(other, run)
    assert contents(run) == before


def test_the_same_collection_goes_on(run, collection, tmp_path, lexigraft, monkeypatch):
    """Called by another path, with other settings, with new documents, from elsewhere, and after it was moved."""
    monkeypatch.chdir(tmp_path)
    assert lexigraft("run", "--data", "tiny", "--out", "run", *BM25, "--set", "lexical.k1=0.7").status == 0
    add_document(collection)
    assert lexigraft("run", "--data", "./tiny", "--out", run, *BM25).status == 0
    assert lexigraft("search", "--run", run, "updated", "--json").json["hits"][0]["doc_id"] == "new"
    (tmp_path / "elsewhere").mkdir()
    collection.rename(tmp_path / "elsewhere/moved")
    assert lexigraft("run", "--data", "elsewhere/moved", "--out", run, *BM25).status == 0
    corpus = tmp_path / "elsewhere/moved/corpus.jsonl"  # from now on it is known by its new path
    corpus.write_text(corpus.read_text().replace('"new"', '"newer"'))
    assert lexigraft("run", "--data", "elsewhere/moved", "--out", run, *BM25).status == 0
    run.rename(tmp_path / "elsewhere/run")  # both were moved: the way from one to the other is another now
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    assert lexigraft("run", "--data", "moved", "--out", "run", *BM25).status == 0
    assert (tmp_path / "copy/run/model/finetuned/weights").read_text() == "dear"


def test_a_link_is_known_by_its_name(run, collection, other, tmp_path, lexigraft):
    (tmp_path / "latest").symlink_to(collection)
    assert lexigraft("run", "--data", tmp_path / "latest", "--out", tmp_path / "linked", *BM25).status == 0
    (tmp_path / "latest").unlink()
    (tmp_path / "latest").symlink_to(other)
    assert lexigraft("run", "--data", tmp_path / "latest", "--out", tmp_path / "linked", *BM25).status == 0


def test_replace_removes_the_run_and_nothing_else(run, collection, other, lexigraft):
    for mine in ("notes.txt", "model/notes.txt", "judged/bm25/mine/notes.txt"):
        (run / mine).parent.mkdir(exist_ok=True)
        (run / mine).write_text("mine")
    continued = run / "model/teacher/scoring"
    continued.mkdir(parents=True)
    for name in ("part", "state.json", ".lock"):
        (continued / name).touch()
    answer = lexigraft("run", "--data", other, "--out", run, *BM25, "--replace", "--json")
    assert answer.status == 0, answer.stderr
    assert answer.json["collection"]["documents"] == 2
    assert sorted(path.name for path in (run / "model").iterdir()) == ["notes.txt"]
    for mine in ("notes.txt", "model/notes.txt", "judged/bm25/mine/notes.txt"):
        assert (run / mine).read_text() == "mine"
    one_line_error(lexigraft("run", "--data", collection, "--out", run), f"another collection: {other}")
    lg.run(collection, run, set={"run.systems": ["bm25"]}, replace=True)
    assert lexigraft("search", "--run", run, "graph", "--json").json["hits"][0]["doc_id"] == "d5"


def test_nothing_is_lost_to_wrong_arguments(run, other, tmp_path, lexigraft):
    before = contents(run)
    for wrong in (
        ("--data", other, "--set", "data.split=absent"),
        ("--data", other, "--set", 'evaluate.measures=["nonsense"]'),
        ("--data", other, "--from", "nowhere"),
        ("--data", other, "--set", "run.systems=esplade"),
        ("--data", tmp_path / "absent"),
    ):
        assert lexigraft("run", *wrong, "--out", run, "--replace").status == 2
    assert "no training judgements" in lexigraft("finetune", "--data", other, "--out", run, "--replace").stderr
    (run / "model/finetuned/notes.txt").write_text("mine")
    before[Path("model/finetuned/notes.txt")] = b"mine"
    answer = lexigraft("run", "--data", other, "--out", run, "--replace")
    one_line_error(answer, f"{run / 'model/finetuned/notes.txt'} is not Lexigraft's")
    assert contents(run) | {LOCK: b""} == before | {LOCK: b""}  # who held the lock last is no loss


def test_somebodys_folder_is_neither_filled_nor_emptied(collection, tmp_path, lexigraft):
    home = tmp_path / "home"
    (home / "model").mkdir(parents=True)
    (home / "letters.txt").write_text("mine")
    (home / ".lock").write_text("of another program")
    before = contents(home)
    for replace in ((), ("--replace",)):
        answer = lexigraft("run", "--data", collection, "--out", home, *replace)
        one_line_error(answer, f"{home} is no run and has files of its own (letters.txt, model)")
        answer = lexigraft("index", "--data", collection, "--out", home, *replace)
        one_line_error(answer, f"{home} exists and is not a Lexigraft artifact")
    with pytest.raises(LexigraftError, match="is no run"):
        lg.run(collection, home, replace=True)
    assert contents(home) == before


def test_an_index_of_another_collection(collection, other, tmp_path, lexigraft):
    index, beside = tmp_path / "index", tmp_path / "index.metadata"
    build = ("index", "--out", index, "--data")
    assert lexigraft(*build, collection).status == 0
    (tmp_path / "years.tsv").write_text("_id\tyear\nd1\t2020\n")
    assert lexigraft("index", "metadata", "--index", index, "--file", tmp_path / "years.tsv").status == 0
    add_document(collection)
    assert lexigraft(*build, collection, "--keep", 3, "--json").json["documents"] == 7
    facts = (f"{index} holds the index of another collection: {collection} (7 documents)", "--replace")
    one_line_error(lexigraft(*build, other), *facts)
    (index / "notes.txt").write_text("mine")
    for data in (collection, other):
        one_line_error(lexigraft(*build, data, "--replace"), f"{index / 'notes.txt'} is not Lexigraft's")
    (index / "notes.txt").unlink()
    assert beside.is_dir()
    assert lexigraft(*build, other, "--replace").status == 0
    assert not beside.exists()
    assert lexigraft("search", "--index", index, "apple", "--json").json["hits"][0]["doc_id"] == "x1"


def test_vectors_and_their_index(topics, backbone, other, tmp_path, lexigraft):  # noqa: F811
    """A model that was really trained, and what it encodes."""
    run, vectors, index = tmp_path / "run", tmp_path / "vectors", tmp_path / "index"
    assert train(lexigraft, "finetune", topics, run, backbone).status == 0
    weights = contents(run / "model")
    one_line_error(lexigraft("run", "--data", other, "--out", run), f"another collection: {topics}", "a trained model")
    assert contents(run / "model") == weights
    encode = ("encode", "--model", run, "--out", vectors, "--data")
    assert lexigraft(*encode, topics).status == 0
    assert lexigraft(*encode, topics).status == 0
    assert lexigraft("index", "--vectors", vectors, "--out", index).status == 0
    one_line_error(lexigraft(*encode, other), f"{vectors} holds the vectors of another collection: {topics} (160 doc")
    assert lexigraft(*encode, other, "--replace").status == 0
    of_vectors = ("index", "--vectors", vectors, "--out", index)
    one_line_error(lexigraft(*of_vectors), f"{index} holds the index of another collection", "topics (160 documents)")
    assert lexigraft(*of_vectors, "--replace").status == 0
    assert lexigraft("index", "--data", other, "--out", index).status == 0  # of the same collection, by BM25


def test_a_second_call_keeps_columns_and_says_what_it_drops(collection, other, tmp_path, lexigraft):
    index = tmp_path / "index"
    lexigraft("index", "--data", collection, "--out", index)
    (tmp_path / "one.tsv").write_text("_id\tyear\tvenue\nd1\t2020\tacl\nd2\t2021\tsigir\n")
    (tmp_path / "two.tsv").write_text("_id\tyear\tpages\nd1\t1999\t7\n")
    metadata = ("index", "metadata", "--index", index, "--json", "--file")
    assert lexigraft(*metadata, tmp_path / "one.tsv").status == 0
    second = lexigraft(*metadata, tmp_path / "two.tsv")
    found = [(column["key"], column["n_documents"]) for column in second.json["columns"]]
    assert found == [("year", 1), ("pages", 1), ("venue", 2)]
    assert "year is replaced: 2 documents had it before, 1 do now" in second.stderr
    assert "venue is kept from before" in second.stderr

    def search(condition):
        answer = lexigraft("search", "--index", index, "list order", "--where", condition, "--json")
        return [hit["doc_id"] for hit in answer.json["hits"]]

    assert (search("venue=sigir"), search("year=1999"), search("year=2020")) == (["d2"], ["d1"], [])
    replaced = lexigraft(*metadata, tmp_path / "two.tsv", "--replace")
    assert [column["key"] for column in replaced.json["columns"]] == ["year", "pages"]
    assert "dropped: venue" in replaced.stderr
    answer = lexigraft("index", "metadata", "--index", index, "--data", other)
    one_line_error(answer, f"{index} is of the collection {collection}, and {other} is another")
    lexigraft("run", "--data", collection, "--out", tmp_path / "run", *BM25)
    answer = lexigraft("index", "metadata", "--run", tmp_path / "run", "--data", other)
    one_line_error(answer, f"is of the collection {collection}, and {other} is another")


def test_a_saved_retriever(tmp_path):
    with lg.Retriever.from_texts(["a cat", "a dog"]) as first, lg.Retriever.from_texts(["zebra"]) as second:
        first.save(tmp_path / "saved")
        with pytest.raises(LexigraftError, match=r"is there already: a saved retriever \(2 documents\).*replace=True"):
            second.save(tmp_path / "saved")
        (tmp_path / "saved/notes.txt").write_text("mine")
        with pytest.raises(LexigraftError, match=r"notes.txt is not Lexigraft's"):
            second.save(tmp_path / "saved", replace=True)
        (tmp_path / "saved/notes.txt").unlink()
        second.save(tmp_path / "saved", replace=True)
        assert [path.name for path in tmp_path.iterdir()] == ["saved"]
        (tmp_path / "home").mkdir()
        with pytest.raises(LexigraftError, match="is no saved retriever"):
            second.save(tmp_path / "home", replace=True)
    with lg.Retriever.open(tmp_path / "saved") as opened:
        assert [hit.doc_id for hit in opened.search("zebra")] == ["0"]
        with pytest.raises(LexigraftError, match="is the retriever that is to be saved"):
            opened.save(tmp_path / "saved", replace=True)
