"""Collections of every layout through the commands, and documents in passages."""

import json

import pytest

from tests.conftest import DOCUMENTS, QUERIES
from tests.unit.data.test_readers import msmarco

LEXICAL = ("--set", 'run.systems=["bm25"]')


def test_an_msmarco_folder_runs_from_text_to_report(tmp_path, lexigraft):
    folder = msmarco(tmp_path / "ms")
    report = lexigraft("run", "--data", folder, "--out", tmp_path / "run", *LEXICAL, "--json").json
    assert (report["collection"]["split"], report["collection"]["documents"]) == ("dev.small", 2)
    assert report["rows"][0]["MRR@10"] == 1  # "second query" finds "A second"
    assert lexigraft("data", "stats", folder, "--json").json["splits"]["train"]["pairs"] == 1


def test_a_file_of_texts_is_indexed_and_searched(tmp_path, lexigraft):
    (tmp_path / "notes.txt").write_text("buy milk\nwrite a letter\n")
    assert lexigraft("index", "--data", tmp_path / "notes.txt", "--out", tmp_path / "index").status == 0
    hits = lexigraft("search", "--index", tmp_path / "index", "letters", "--json").json["hits"]
    assert [hit["doc_id"] for hit in hits] == ["notes-2"]


def test_passages_are_found_and_their_documents_named(collection, tmp_path, lexigraft):
    text = " ".join(["filler"] * 50 + ["needle"] + ["filler"] * 50)
    with (collection / "corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "long", "title": "", "text": text}) + "\n")
    cut = ("--set", "data.passage_words=10", "--set", "data.passage_overlap=2")
    report = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *LEXICAL, *cut, "--json").json
    assert report["collection"]["documents"] > len(DOCUMENTS)
    assert report["rows"][0]["R@10"] == 1  # judgements name documents
    hits = lexigraft("search", "--run", tmp_path / "run", "needle filler", "--json").json["hits"]
    assert [hit["doc_id"] for hit in hits] == ["long"]  # once, though ten of its passages match
    explained = lexigraft("explain", "--run", tmp_path / "run", "needle filler", "long", "--json").json
    assert explained["score"] == pytest.approx(hits[0]["score"])
    assert explained["doc_id"].startswith("long#")
    trec = (tmp_path / "run" / "judged" / "bm25" / "evaluation-qk0-dk0" / "run.trec").read_text()
    assert {line.split()[0] for line in trec.splitlines()} <= {query.query_id for query in QUERIES}
    assert "#" not in trec
    whole = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *LEXICAL, "--json").json
    assert whole["collection"]["documents"] == len(DOCUMENTS) + 1  # another cut is another index


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["data.passage_words=5", "data.passage_overlap=5"], "data.passage_overlap = 5 is not allowed: 0 to 4"),
        (["data.passage_overlap=1"], "0 to 0"),
        (["data.on_duplicate=warn"], "one of error, skip"),
        (["data.on_bad_bytes=ignore"], "one of error, replace"),
    ],
)
def test_settings_out_of_range(collection, tmp_path, lexigraft, settings, says):
    given = [part for setting in settings for part in ("--set", setting)]
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *given)
    assert answer.status == 2
    assert says in answer.stderr


def test_duplicates_stop_a_run_and_can_be_skipped(collection, tmp_path, lexigraft):
    with (collection / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d2", "text": "again"}\n')
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *LEXICAL)
    assert answer.status == 2
    assert "corpus.jsonl:7: the _id 'd2' was used on line 2 already" in answer.stderr
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *LEXICAL, "--on-duplicate", "skip")
    assert answer.status == 0
    assert "1 records dropped because their _id came before" in answer.stderr
    counted = lexigraft("data", "stats", collection, "--json").json
    assert (counted["records"], counted["duplicate_ids"], counted["documents"]) == (7, 1, 6)


def test_queries_without_positives_are_said(collection, tmp_path, lexigraft):
    with (collection / "qrels" / "test.tsv").open("a") as file:
        file.write("q4\td1\t0\n")
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "run", *LEXICAL)
    assert "1 queries have no relevant document and are not measured" in answer.stderr


def test_documents_here_topics_and_judgements_there(tmp_path, lexigraft):
    (tmp_path / "texts.txt").write_text("crime is organized\npolio\n")
    (tmp_path / "topics.txt").write_text("<top><num> Number: 1 <title> organized crime </top>")
    (tmp_path / "judged.qrels").write_text("1 0 texts-1 1\n")
    parts = ("--queries", tmp_path / "topics.txt", "--qrels", f"dev={tmp_path / 'judged.qrels'}")
    out = tmp_path / "beir"
    assert lexigraft("data", "convert", tmp_path / "texts.txt", "--out", out, *parts).status == 0
    report = lexigraft("run", "--data", out, "--out", tmp_path / "run", *LEXICAL, "--json").json
    assert (report["collection"]["split"], report["rows"][0]["MRR@10"]) == ("dev", 1)
    found = lexigraft("data", "stats", out, "--json").json
    assert (found["documents"], found["queries"], found["splits"]["dev"]["pairs"]) == (2, 1, 1)
    answer = lexigraft("data", "convert", out, "--out", out)
    assert "is the collection itself" in answer.stderr
    answer = lexigraft("data", "convert", out, "--out", tmp_path / "x", "--qrels", f"../up={tmp_path / 'judged.qrels'}")
    assert "is no name for a split" in answer.stderr
    answer = lexigraft("data", "convert", out, "--out", tmp_path / "again", "--on-bad-bytes", "ignore")
    assert "one of error, replace" in answer.stderr


def test_a_folder_with_files_that_a_run_would_overwrite_is_refused(collection, tmp_path, lexigraft):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "report.md").write_text("mine")
    answer = lexigraft("run", "--data", collection, "--out", tmp_path / "home", *LEXICAL)
    assert answer.status == 2
    assert "is no run and has files of its own (report.md)" in answer.stderr
    assert (tmp_path / "home" / "report.md").read_text() == "mine"
