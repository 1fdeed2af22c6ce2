"""Control characters and lone surrogates in ids, titles, texts and paths: shown, never obeyed, never mixed up."""

import json
import re

import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.e2e.test_bad_input import one_line_error

OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ODD = "d\x1b[31m\u202e\x9b1"


@pytest.fixture
def index(tmp_path, lexigraft):
    write_collection(
        tmp_path / "odd", [Document(ODD, "t\x1b]0;x\x07", "some \x1b[2J words\u2028 here"), Document("d2", "", "words")]
    )
    made = lexigraft("index", "--data", tmp_path / "odd", "--out", tmp_path / "index", "--texts", "yes")
    assert made.status == 0, made.stderr
    return tmp_path / "index"


@pytest.mark.parametrize("options", [(), ("--text",), ("--json",), ("--json", "--text")])
def test_search_shows_and_obeys_nothing(index, options, lexigraft):
    found = lexigraft("search", "--index", index, "some words", *options)
    assert found.status == 0
    assert not OBEYED.search(found.stdout + found.stderr)
    if "--json" in options:
        assert found.json["hits"][0]["doc_id"] == ODD
    else:
        assert r"d\x1b[31m\u202e\x9b1" in found.stdout


def test_files_keep_the_real_ids(index, tmp_path, lexigraft):
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "some"}\n')
    call = ("search", "--index", index, "--queries", tmp_path / "queries.jsonl", "--out", tmp_path / "found.trec")
    assert lexigraft(*call).status == 0
    assert "\x1b" in (tmp_path / "found.trec").read_text()


def test_errors_are_one_line_and_obey_nothing(index, tmp_path, lexigraft):
    for wrong in ("\x1b[31mred", "two\nlines", "\u202eevil", "\udcff"):
        for call in (
            ("explain", "--index", index, "words", wrong),
            ("search", "--index", tmp_path / wrong, "words"),
            ("index", "--data", tmp_path / wrong, "--out", tmp_path / "new"),
            ("index", "--data", tmp_path / "odd", "--out", tmp_path / "new", "--set", f"lexical.{wrong}=1"),
        ):
            said = lexigraft(*call)
            one_line_error(said)
            assert not OBEYED.search(said.stderr), call


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("name", ["corpus.jsonl", "own.json"])
def test_a_lone_surrogate_in_an_id_is_an_error_with_its_line(tmp_path, name, lexigraft):
    records = [{"_id": "?", "text": "a"}, {"_id": "\ud800", "text": "b"}]
    text = lines(*records) if name.endswith("l") else json.dumps(records)
    (tmp_path / name).write_text(text)
    place = tmp_path if name == "corpus.jsonl" else tmp_path / name
    said = lexigraft("index", "--data", place, "--out", tmp_path / "index")
    one_line_error(said, name, "2", "lone surrogates")


def test_lone_surrogates_in_texts_are_replaced_alike_everywhere(tmp_path, lexigraft):
    record = {
        "_id": "d1",
        "title": "t\ud800",
        "text": "word\udfff two",
        "metadata": {"k\ud800": "v\ud800", "n": [10**400]},
    }
    (tmp_path / "beir").mkdir()
    (tmp_path / "beir/corpus.jsonl").write_text(lines(record))
    (tmp_path / "own.json").write_text(json.dumps([record]))
    for data, out in (("beir", "i1"), ("own.json", "i2")):
        made = lexigraft("index", "--data", tmp_path / data, "--out", tmp_path / out, "--texts", "yes")
        assert made.status == 0, made.stderr
        hit = lexigraft("search", "--index", tmp_path / out, "two", "--text", "--json").json["hits"][0]
        assert (hit["title"], hit["text"]) == ("t?", "word? two")
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "q1", "text": "two\ud800"}))
    call = ("search", "--index", tmp_path / "i1", "--queries", tmp_path / "queries.jsonl", "--out", tmp_path / "r.trec")
    assert lexigraft(*call).status == 0
    assert lexigraft("search", "--index", tmp_path / "i1", "two\udcff", "--json").status == 0
