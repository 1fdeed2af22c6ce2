"""Expansion and statistics of vectors, as a user would call them."""

import json

import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.measure.trec import read_run
from lexigraft.vectors.query_store import open_query_vectors
from tests.conftest import DOCUMENTS, QUERIES
from tests.e2e.test_bad_input import one_line_error
from tests.generators import make_generator

FEEDBACK = [
    Document("d1", "", "car engine repair motor"),
    Document("d2", "", "car motor engine oil"),
    Document("d3", "", "automobile motor engine"),
    Document("d4", "", "bread flour oven"),
    Document("d5", "", "garden flowers"),
]


@pytest.fixture
def cars(tmp_path):
    """d3 is about cars and does not say so: feedback finds it by what d1 and d2 say beside."""
    folder = tmp_path / "cars"
    queries = [Query("q1", "car"), Query("q2", "zebra")]
    write_collection(folder, FEEDBACK, queries, {"test": [Qrel("q1", "d3", 1), Qrel("q2", "d4", 1)]})
    return folder


def test_rm3_finds_what_the_query_does_not_say(cars, tmp_path, lexigraft):
    out = tmp_path / "out"
    call = ("expand", "rm3", "--data", cars, "--out", out, "--max-share", 1)
    answer = lexigraft(*call, "--json")
    assert answer.status == 0, answer.stderr
    plain, rm3 = answer.json["rows"]
    assert (plain["system"], rm3["system"]) == ("bm25", "rm3")
    assert (plain["R@10"], rm3["R@10"]) == (0.0, 0.5)  # q1 of q1 and q2; q2 has no known word
    assert rm3["unexpanded"] == rm3["without_results"] == 1
    assert rm3["fb_docs"] == 10
    assert rm3["L0_q"] > plain["L0_q"] == 0.5
    assert [ranking.query_id for ranking in read_run(out / "rm3/run.trec")] == ["q1"]
    assert "d3" in read_run(out / "rm3/run.trec")[0].doc_ids
    queries, vocabulary = open_query_vectors(out / "rm3/queries")
    terms, weights = queries.row(0)
    assert {vocabulary.terms[term] for term in terms} == {"car", "engin", "repair", "motor", "oil"}
    assert weights.sum() == pytest.approx(1)
    assert json.loads((out / "rm3/row.json").read_text()) == rm3
    made = (out / "bm25/index/manifest.json").stat().st_mtime_ns
    assert lexigraft(*call, "--json").json == answer.json  # a second call keeps index and counts
    assert (out / "bm25/index/manifest.json").stat().st_mtime_ns == made
    table = lexigraft(*call).stdout
    assert "2 test queries" in table
    assert "rm3" in table


def test_rm3_over_the_index_of_a_run(cars, tmp_path, lexigraft):
    assert lexigraft("run", "--data", cars, "--out", tmp_path / "run").status == 0
    index = tmp_path / "run/judged/bm25/index"
    own = lexigraft("expand", "rm3", "--data", cars, "--out", tmp_path / "a", "--max-share", 1, "--json").json
    given = lexigraft(
        "expand", "rm3", "--data", cars, "--out", tmp_path / "b", "--index", index, "--max-share", 1, "--json"
    ).json
    assert own["rows"] == given["rows"]
    assert not (tmp_path / "b/bm25/index").exists()


def test_rm3_with_passages_and_reordering(cars, tmp_path, lexigraft):
    settings = ("--set", "data.passage_words=2", "--set", "index.reorder=true", "--max-share", 1)
    answer = lexigraft("expand", "rm3", "--data", cars, "--out", tmp_path / "out", *settings, "--json")
    assert answer.status == 0, answer.stderr
    assert answer.json["rows"][0]["documents"] > len(FEEDBACK)
    assert answer.json["rows"][1]["R@10"] == 0.5


def test_an_index_that_was_read_in_another_way(cars, tmp_path, lexigraft):
    two = ("--set", "data.passage_words=2")
    assert lexigraft("run", "--data", cars, "--out", tmp_path / "run").status == 0
    assert lexigraft("run", "--data", cars, "--out", tmp_path / "cut", *two).status == 0
    generated = tmp_path / "g.jsonl"
    generated.write_text('{"id": "d3", "text": "car"}\n')
    whole, cut = tmp_path / "run/judged/bm25/index", tmp_path / "cut/judged/bm25/index"
    for command in (("rm3",), ("doc2query", "--generated", generated)):
        call = ("expand", *command, "--data", cars, "--out", tmp_path / "out")
        one_line_error(lexigraft(*call, "--index", cut), "is an index of passages", "--set data.passage_words=N")
        one_line_error(lexigraft(*call, "--index", whole, *two), "index of whole documents", "data.passage_words = 2")
        assert lexigraft(*call, "--index", cut, *two).status == 0
    rm3 = ("expand", "rm3", "--data", cars, "--out", tmp_path / "out", "--index", cut)
    one_line_error(lexigraft(*rm3, "--set", "data.passage_words=1"), "rows, and cars", "(data.passage_words = 1,")


def test_longer_documents_are_read_as_those_of_the_index_given(cars, tmp_path, lexigraft):
    """The index is of words as they stand, so `cars` added to d3 does not answer `car`."""
    assert lexigraft("run", "--data", cars, "--out", tmp_path / "run").status == 0
    generated = tmp_path / "g.jsonl"
    generated.write_text('{"id": "d3", "text": "cars"}\n')
    call = ("expand", "doc2query", "--data", cars, "--generated", generated, "--out", tmp_path / "out", "--json")
    found = {}
    for system in ("bm25", "bm25-plain"):
        answer = lexigraft(*call, "--index", tmp_path / f"run/judged/{system}/index")
        assert answer.status == 0, answer.stderr
        found[system] = [row["R@10"] for row in answer.json["rows"]]
    assert found == {"bm25": [0.0, 0.5], "bm25-plain": [0.0, 0.0]}


def test_only_measures_that_the_rankings_are_deep_enough_for(cars, tmp_path, lexigraft):
    call = ("expand", "rm3", "--data", cars, "--out", tmp_path / "out", "--max-share", 1)
    for depth, deepest in ((1000, {"R@10", "R@100", "R@1000"}), (100, {"R@10", "R@100"}), (99, {"R@10"}), (9, set())):
        rows = lexigraft(*call, "--set", f"search.k={depth}", "--json").json["rows"]
        for row in rows:
            assert {name for name in row if name.startswith("R@")} == deepest
            assert ("MRR@10" in row) == ("nDCG@10" in row) == ("measured_by" in row) == (depth >= 10)
    assert "2 test queries" in lexigraft(*call, "--set", "search.k=9").stdout


def test_a_query_whose_own_words_are_weighed_anew_is_expanded(tmp_path, lexigraft):
    """Feedback that adds no word but counts `engine` more often than `car` changes the query."""
    folder = tmp_path / "two"
    documents = [Document("d1", "", "car engine engine"), Document("d2", "", "bread")]
    queries = [Query("q1", "car engine"), Query("q2", "zebra")]
    write_collection(folder, documents, queries, {"test": [Qrel("q1", "d1", 1), Qrel("q2", "d2", 1)]})
    call = ("expand", "rm3", "--data", folder, "--out", tmp_path / "out", "--max-share", 1, "--json")
    assert lexigraft(*call).json["rows"][1]["unexpanded"] == 1  # q2 finds nothing


def test_without_judgements_all_queries_are_expanded(tmp_path, lexigraft):
    folder = tmp_path / "bare"
    write_collection(folder, DOCUMENTS, QUERIES, {})
    answer = lexigraft("expand", "rm3", "--data", folder, "--out", tmp_path / "out", "--max-share", 1, "--json")
    assert answer.status == 0, answer.stderr
    rows = answer.json["rows"]
    assert [row["queries"] for row in rows] == [4, 4]
    assert "MRR@10" not in rows[1]
    text = lexigraft("expand", "rm3", "--data", folder, "--out", tmp_path / "out", "--max-share", 1).stdout
    assert "4 queries, none of them judged" in text


def test_generated_text_for_queries_and_documents(cars, tmp_path, lexigraft):
    generated = tmp_path / "g.jsonl"
    generated.write_text('{"id": "q1", "text": "automobile"}\n{"id": "q9", "text": "unknown"}\n')
    call = ("--data", cars, "--generated", generated, "--json")
    answer = lexigraft("expand", "query2doc", *call, "--out", tmp_path / "out", "--repeats", 2)
    assert answer.status == 0, answer.stderr
    plain, found = answer.json["rows"]
    assert (plain["R@10"], found["R@10"]) == (0.0, 0.5)
    assert (found["missing"], found["unknown"], found["repeats"]) == (1, 1, 2)
    assert "1 of 2 queries have no generated text and stay as they are (such as q2)" in answer.stderr
    assert "1 texts are of ids that are no queries here and are left out (such as q9)" in answer.stderr
    generated.write_text('{"id": "d3", "text": ["what is a car", "car parts"]}\n{"id": "d4", "text": "zebra"}\n')
    for _ in range(2):  # the second time by what is kept
        answer = lexigraft("expand", "doc2query", *call, "--out", tmp_path / "out")
        assert answer.status == 0, answer.stderr
        plain, found = answer.json["rows"]
        assert (plain["R@10"], found["R@10"]) == (0.0, 1.0)
        assert (found["missing"], found["unknown"]) == (3, 0)
        assert found["L0_d"] > plain["L0_d"]


def test_from_a_model_to_an_expanded_index(cars, tmp_path, lexigraft):
    model = make_generator(tmp_path / "t5", "t5")
    file = tmp_path / "g.jsonl"
    call = ("expand", "generate", "--data", cars, "--of", "documents", "--model", model, "--out", file, "--texts", 2)
    answer = lexigraft(*call, "--json")
    assert answer.status == 0, answer.stderr
    assert answer.json == {"generated": str(file), "documents": 5, "texts": 10}
    assert "10 texts for 5 documents" in lexigraft(*call).stdout
    answer = lexigraft("expand", "doc2query", "--data", cars, "--generated", file, "--out", tmp_path / "out", "--json")
    assert answer.status == 0, answer.stderr
    assert answer.json["rows"][1]["missing"] == 0
    queries = tmp_path / "q.jsonl"
    call = (
        "expand",
        "generate",
        "--data",
        cars,
        "--of",
        "queries",
        "--model",
        model,
        "--out",
        queries,
        "--split",
        "test",
    )
    assert lexigraft(*call, "--limit", 1, "--prompt", "sort {text}", "--json").json["queries"] == 1
    one_line_error(lexigraft(*call, "--limit", 1, "--prompt", "date {text}"), "prompt = 'sort {text}'")
    qrels = cars / "qrels/test.tsv"
    qrels.write_text("".join(line for line in qrels.read_text().splitlines(keepends=True) if "q1" not in line))
    one_line_error(lexigraft(*call, "--limit", 1, "--prompt", "sort {text}"), "with source = 'queries test 1 ")


def test_errors(cars, tmp_path, lexigraft):
    out = ("--data", cars, "--out", tmp_path / "out")
    one_line_error(lexigraft("expand", "rm3", *out, "--fb-docs", 0), "fb_docs = 0 is not allowed: 1 or more")
    one_line_error(lexigraft("expand", "rm3", *out, "--split", "dev"), "no judgements for split 'dev'")
    one_line_error(lexigraft("expand", "rm3", *out, "--index", tmp_path / "no"), "there is no index at")
    absent = tmp_path / "absent.jsonl"
    for command in ("query2doc", "doc2query"):
        one_line_error(lexigraft("expand", command, *out, "--generated", absent), "there is no file", "absent.jsonl")
    absent.write_text('{"id": "x", "text": "y"}\n')
    for command in ("query2doc", "doc2query"):
        one_line_error(lexigraft("expand", command, *out, "--generated", absent), "has no text for any of the")
    generate = ("expand", "generate", "--data", cars, "--out", tmp_path / "g.jsonl", "--model", tmp_path / "no")
    one_line_error(lexigraft(*generate, "--of", "titles"), "--of titles is not known: queries or documents")
    one_line_error(lexigraft(*generate, "--of", "queries"), "cannot be opened as a text generator")


def test_statistics_of_a_run_and_of_queries(cars, tmp_path, lexigraft):
    assert lexigraft("run", "--data", cars, "--out", tmp_path / "run").status == 0
    call = ("vectors", "stats", tmp_path / "run", "--queries", cars / "queries.jsonl")
    answer = lexigraft(*call, "--json")
    assert answer.status == 0, answer.stderr
    found = answer.json
    assert [item["side"] for item in found] == ["documents", "queries"] * 2  # bm25 and bm25-plain
    documents, queries = found[:2]
    assert [item["keep"] for item in documents["prunings"]] == [0, 20, 10, 5]
    assert [item["keep"] for item in queries["prunings"]] == [0, 7, 5]
    assert (documents["rows"], documents["terms"]) == (5, 11)
    assert documents["prunings"][0]["L0"] == (4 + 4 + 3 + 3 + 2) / 5
    assert (queries["rows"], queries["prunings"][0]["L0"]) == (2, 0.5)
    # car 2, engine 3, motor 3 rows: those of two or more.
    chosen = lexigraft(*call, "--json", "--threshold", 2, "--dk", 0).json[0]
    assert chosen["prunings"][0]["by_threshold"][0]["logit-cnt"] == 3
    table = lexigraft(*call).stdout
    assert "pos-ls-len-std" in table
    assert "5 documents, 11 terms" in table
    assert lexigraft("expand", "rm3", "--data", cars, "--out", tmp_path / "out", "--max-share", 1).status == 0
    stored = lexigraft("vectors", "stats", tmp_path / "out/rm3/queries", "--json").json
    assert (stored[0]["side"], stored[0]["prunings"][0]["L0"]) == ("queries", 2.5)
    one_line_error(lexigraft("vectors", "stats", tmp_path / "no"), "there is no vectors at")
