"""`explain` from the command line: results, texts, pairs, pages, and what it says to bad input."""

import json
import shutil

import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.conftest import DOCUMENTS
from tests.unit.explain.pages import problems_of

QUERY = "remove duplicate items keeping order"


@pytest.fixture
def run(collection, tmp_path, lexigraft):
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", "--set", "evaluate.timing_runs=1")
    assert answer.status == 0, answer.stderr
    return tmp_path / "run"


def one_line_error(answer, text):
    assert (answer.status, answer.stderr.count("\n")) == (2, 1), answer.stderr
    assert text in answer.stderr


def test_words_of_both_texts_are_named(run, lexigraft):
    why = lexigraft("explain", "--run", run, QUERY, "d1", "--json").json
    sources = {
        item["term"]: (item["query_from"]["token"], item["document_from"]["token"]) for item in why["contributions"]
    }
    assert sources == {
        "remov": ("remove", "Remove"), "duplic": ("duplicate", "duplicates"), "item": ("items", "items"),
        "keep": ("keeping", "keep"), "order": ("order", "Ordered"),
    }  # fmt: skip
    assert all(item["query_own"] and item["document_own"] for item in why["contributions"])
    assert {item["query_from"]["kind"] for item in why["contributions"]} == {"own"}
    assert sum(item["points"] for item in why["contributions"]) == why["points"]
    assert why["title"] == "Ordered sets"
    shown = lexigraft("explain", "--run", run, QUERY, "d1", "--top", 2).stdout
    assert "3 more" in shown
    assert "100.0%" in shown


def test_a_page_is_whole_and_safe(run, tmp_path, lexigraft):
    page = tmp_path / "why.html"
    assert (
        lexigraft("explain", "--run", run, "order <script>alert(1)</script> & more", "d1", "--html", page).status == 0
    )
    assert problems_of(page.read_text()) == []
    assert "<script" not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()
    both = tmp_path / "both.html"
    call = ("explain", "--run", run, QUERY, "d1", "--against-system", "bm25-plain", "--html", both)
    assert lexigraft(*call).status == 0
    assert problems_of(both.read_text()) == []
    assert "Side by side" in both.read_text()
    assert "--html" not in both.read_text()
    one_line_error(lexigraft("explain", "--run", run, QUERY, "--html", tmp_path / "no/where.html"), "where.html")


def test_two_systems_of_a_result(run, lexigraft):
    found = lexigraft("explain", "--run", run, QUERY, "d1", "--against-system", "bm25-plain", "--json").json
    where = {item["term"]: item["in"] for item in found["terms"]}
    assert (where["remov"], where["remove"], where["order"]) == ("first", "second", "both")
    other = lexigraft("explain", "--run", run, QUERY, "d1", "--against", run, "--json").json
    assert other["common_share"] == pytest.approx(1)


def test_an_index_is_told_where_its_texts_are(collection, run, tmp_path, lexigraft):
    lexigraft("index", "--data", collection, "--out", tmp_path / "i", "--texts", "no")
    call = ("explain", "--index", tmp_path / "i", QUERY, "d1")
    without = lexigraft(*call, "--json")
    assert "give the collection it is of with --data" in without.stderr
    assert all(item["document_from"] is None for item in without.json["contributions"])
    with_texts = lexigraft(*call, "--data", collection, "--json")
    assert with_texts.stderr == ""
    assert all(item["document_from"]["kind"] == "own" for item in with_texts.json["contributions"])
    compared = lexigraft(*call, "--against", run, "--json").json
    assert compared["counts"] == {"both": 5, "first": 0, "second": 0}
    one_line_error(lexigraft(*call, "--against-system", "bm25"), "give --against RUN")
    one_line_error(lexigraft(*call, "--against", tmp_path / "i", "--against-system", "bm25"), "is an index")
    one_line_error(lexigraft(*call, "--against", tmp_path / "nothing"), "there is no run")


def test_texts_that_moved_or_changed(collection, run, tmp_path, lexigraft):
    call = ("explain", "--run", run, QUERY, "d1", "--json")
    changed = tmp_path / "changed"
    write_collection(changed, [Document("d1", "", "Remove nothing."), *DOCUMENTS[1:]])
    answer = lexigraft(*call, "--data", changed)
    assert "is not the one that was indexed" in answer.stderr
    kinds = {item["term"]: item["document_from"]["kind"] for item in answer.json["contributions"]}
    assert (kinds["remov"], kinds["order"]) == ("own", "unknown")
    write_collection(changed, DOCUMENTS[1:])
    assert "has no document 'd1'" in lexigraft(*call, "--data", changed).stderr
    collection.rename(tmp_path / "elsewhere")
    assert lexigraft(*call).stderr == ""  # the run keeps what they say
    shutil.rmtree(run / "judged/texts")
    moved = lexigraft(*call)
    assert (moved.status, "--data names the collection" in moved.stderr) == (0, True)
    assert lexigraft(*call, "--data", tmp_path / "elsewhere").stderr == ""
    (run / "settings.json").unlink()
    assert "settings.json does not say of which collection the run is" in lexigraft(*call).stderr


def test_passages_are_cut_again(tmp_path, lexigraft):
    words = [f"filler{number}" for number in range(30)]
    words[17] = "needle"
    write_collection(tmp_path / "c", [Document("long", "Title", " ".join(words)), Document("other", "", "filler3")])
    cut = ("--set", "data.passage_words=10", "--set", "data.passage_overlap=2", "--texts", "no")
    assert lexigraft("run", "--data", tmp_path / "c", "--out", tmp_path / "run", *cut).status == 0
    answer = lexigraft("explain", "--run", tmp_path / "run", "needle filler18", "long", "--json")
    assert (answer.stderr, answer.json["doc_id"]) == ("", "long#2")
    sources = {item["term"]: item["document_from"] for item in answer.json["contributions"]}
    assert sources["needl"] == {"kind": "own", "word": 2, "token": "needle"}  # after the title and filler16
    lexigraft("index", "--data", tmp_path / "c", "--out", tmp_path / "i", *cut)
    by_index = ("explain", "--index", tmp_path / "i", "needle filler18", "long", "--data", tmp_path / "c", "--json")
    assert lexigraft(*by_index).json == answer.json
    lexigraft("index", "--data", tmp_path / "c", "--out", tmp_path / "i", *cut[:-1], "yes")
    kept = lexigraft("explain", "--index", tmp_path / "i", "needle filler18", "long", "--json")
    assert (kept.stderr, kept.json) == ("", answer.json)
    lexigraft("index", "live", tmp_path / "i", "--out", tmp_path / "live")
    by_live = ("explain", "--index", tmp_path / "live", "needle filler18", "long", "--data", tmp_path / "c", "--json")
    answer = lexigraft(*by_live)
    assert "does not say how they were cut" in answer.stderr
    assert sum(item["points"] for item in answer.json["contributions"]) == answer.json["points"]


def test_a_live_index(collection, run, tmp_path, lexigraft):
    lexigraft("index", "live", run / "judged/bm25/index", "--out", tmp_path / "live")
    call = ("explain", "--index", tmp_path / "live", QUERY, "d1", "--data", collection, "--json")
    assert lexigraft(*call).json == lexigraft("explain", "--run", run, QUERY, "d1", "--json").json
    lexigraft("index", "delete", tmp_path / "live", "d1")
    one_line_error(lexigraft(*call), "there is no document 'd1'")


def test_nothing_to_explain(run, tmp_path, lexigraft):
    one_line_error(lexigraft("explain", "--run", run, "", "d1"), "the text is empty")
    one_line_error(lexigraft("explain", "--run", run, "--text", "  "), "the text is empty")
    one_line_error(lexigraft("explain", "--run", run, QUERY, "d9"), "there is no document 'd9'")
    one_line_error(lexigraft("explain", "--run", run, "--text", "a", "--against-system", "x"), "has no system 'x'")
    one_line_error(lexigraft("explain", "--run", run, "q", "d1", "--text", "t"), "give either a query")
    nothing = lexigraft("explain", "--run", run, "--text", "?!", "--html", tmp_path / "n.html")
    assert (nothing.status, "becomes nothing" in nothing.stdout) == (0, True)
    assert problems_of((tmp_path / "n.html").read_text()) == []
    assert lexigraft("explain", "--run", run, "--text", "zzz", "--json").json["terms"] == []
    unrelated = lexigraft("explain", "--run", run, "graph", "d1", "--html", tmp_path / "u.html")
    assert (unrelated.status, "they share no term" in unrelated.stdout) == (0, True)
    assert problems_of((tmp_path / "u.html").read_text()) == []
    assert json.loads(lexigraft("explain", "--run", run, "graph", "d1", "--json").stdout)["score"] == 0
    odd = lexigraft("explain", "--run", run, "--text", "order \udcff", "--html", tmp_path / "odd.html")
    assert (odd.status, problems_of((tmp_path / "odd.html").read_text())) == (0, [])
