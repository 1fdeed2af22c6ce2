"""A live index of BM25 through the command line: texts are added, replaced, deleted and merged, and words are found."""

import pytest

from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.retrieve.live_changes import Adding, add_documents, begin_live_bm25
from lexigraft.retrieve.retriever import Retriever
from tests.e2e.test_bad_input import one_line_error
from tests.live_bm25 import segment_files

FIRST = [
    Document("d1", "Foxes", "The red fox jumps over the lazy dog."),
    Document("d2", "Dogs", "Dogs sleep."),
    Document("d3", "", "A blue fox, and a red one."),
]
LATER = [Document("d4", "Zebras", "Zebras have stripes, foxes have none."), Document("d2", "Cats", "Cats sleep, too.")]
LEFT = [FIRST[2], LATER[0], LATER[1]]


@pytest.fixture
def texts(tmp_path):
    for name, documents in (("first", FIRST), ("later", LATER), ("left", LEFT)):
        write_collection(tmp_path / name, documents)
    return tmp_path


def found(lexigraft, index, query):
    return {hit["doc_id"]: hit["score"] for hit in lexigraft("search", "--index", index, query, "--json").json["hits"]}


def test_texts_are_added_replaced_deleted_and_merged(texts, lexigraft):
    live = texts / "live"
    begun = lexigraft("index", "add", live, "--data", texts / "first")
    assert "3 documents added as segment 000001" in begun.stdout
    assert "is a new live index of BM25" in begun.stdout
    assert list(found(lexigraft, live, "dogs sleeping")) == ["d2", "d1"]
    assert found(lexigraft, live, "zebra") == {}

    one_line_error(lexigraft("index", "add", live, "--data", texts / "later"), "such as 'd2'", "--replace")
    added = lexigraft("index", "add", live, "--data", texts / "later", "--replace")
    assert "2 documents added as segment 000002, 1 of them in the place of older ones" in added.stdout
    assert "new live index" not in added.stdout
    assert list(found(lexigraft, live, "a striped zebra")) == ["d4"]
    assert set(found(lexigraft, live, "fox")) == {"d1", "d3", "d4"}
    score = lexigraft("explain", "--index", live, "red foxes", "d3", "--data", texts / "first", "--json").json["score"]
    assert found(lexigraft, live, "red foxes")["d3"] == score

    assert lexigraft("index", "delete", live, "d1").status == 0
    assert found(lexigraft, live, "lazy jumps") == {}
    status = lexigraft("index", "status", live, "--verify", "--json").json
    assert (status["documents"], status["deleted"], status["encoder"]) == (3, 2, "bm25 live")
    assert status["takes_texts"]
    assert "became 000003: 3 documents, 2 deleted" in lexigraft("index", "merge", live, "--all").stdout

    lexigraft("index", "add", texts / "at_once", "--data", texts / "left")
    assert list(segment_files(live).values()) == list(segment_files(texts / "at_once").values())
    for query in ("red fox", "zebras sleep", "cats have none"):
        assert found(lexigraft, live, query) == found(lexigraft, texts / "at_once", query) != {}


def test_the_same_by_a_program(texts, lexigraft):
    live = texts / "live"
    begin_live_bm25(live, iter(FIRST), Settings())
    add_documents(live, iter(LATER), Settings(), Adding(replacing=True))
    lexigraft("index", "add", texts / "other", "--data", texts / "first")
    lexigraft("index", "add", texts / "other", "--data", texts / "later", "--replace")
    assert segment_files(live) == segment_files(texts / "other")
    search = Retriever.open(live)
    assert [hit.title for hit in search.search("zebra stripes")] == ["Zebras"]
    assert [term.term for term in search.terms("zebra sleeping fox unknown")] == ["sleep", "zebra", "fox"]


def test_passages(texts, lexigraft):
    cut = ("--set", "data.passage_words=3", "--set", "data.passage_overlap=0")
    assert lexigraft("index", "add", texts / "live", "--data", texts / "first", *cut).status == 0
    assert lexigraft("index", "add", texts / "live", "--data", texts / "later", "--replace", *cut).status == 0
    assert list(found(lexigraft, texts / "live", "stripes lazy")) == ["d1", "d4"]
    one_line_error(lexigraft("index", "add", texts / "live", "--data", texts / "left"), "whole documents", "passages")


def test_bad_input(texts, collection, lexigraft):
    live, plain = texts / "live", texts / "plain"
    lexigraft("index", "add", live, "--data", texts / "first")
    add = ("index", "add", live, "--replace", "--data", texts / "later")
    one_line_error(lexigraft(*add, "--set", "lexical.b=0.1"), "lexical.b = 0.1 does not fit", "0.75", "leave it out")
    one_line_error(lexigraft(*add, "--keep", 5), "keep = 5 is not allowed in a live index of BM25")
    lexigraft("run", "--data", collection, "--out", texts / "run")
    vectors = ("--vectors", texts / "run/judged/bm25/vectors")
    one_line_error(lexigraft("index", "add", live, *vectors), "vectors have none; add texts (--data)")
    one_line_error(lexigraft("index", "live", live / "segments/000001", "--out", texts / "x"), "is a segment of a live")
    lexigraft("index", "--data", texts / "first", "--out", plain)
    one_line_error(lexigraft("index", "add", plain, "--data", texts / "later"), "is not a live index")
    made = lexigraft("index", "live", plain, "--out", texts / "of_plain")
    assert "takes no texts" in made.stdout
    write_collection(texts / "empty", [])
    one_line_error(lexigraft("index", "add", texts / "new", "--data", texts / "empty"), "no documents")
    write_collection(texts / "wordless", [Document("x", "", "...")])
    one_line_error(lexigraft("index", "add", texts / "new", "--data", texts / "wordless"), "no word was found")
    assert not (texts / "new").exists()
    assert set(found(lexigraft, live, "fox")) == {"d1", "d3"}
