"""Metadata of a live index by commands, a server and Python: they come, change and go with their documents."""

import json
from datetime import date

import numpy as np
import pytest

from lexigraft import Retriever
from lexigraft.core.errors import InputError
from tests.e2e.test_bad_input import one_line_error
from tests.serving import InProcess

FIRST = [{"id": "d1", "text": "river stone", "year": 2020}, {"id": "d2", "text": "river moss", "year": 2021}]
LATER = [{"id": "d2", "text": "river reeds", "year": 1999}, {"id": "d3", "text": "river delta", "year": 2022}]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "first.jsonl", FIRST)
    write(tmp_path / "later.jsonl", LATER)
    return tmp_path


@pytest.fixture
def live(data, lexigraft):
    added = lexigraft("index", "add", "live", "--data", "first.jsonl")
    assert "to filter by (--where): year" in added.stdout
    return data / "live"


def found(lexigraft, where="", index="live", query="river"):
    """{doc_id: metadata} of what is found."""
    condition = ("--where", where) if where else ()
    answer = lexigraft("search", "--index", index, query, *condition, "--json")
    assert answer.status == 0, answer.stderr
    return {hit["doc_id"]: hit["metadata"] for hit in answer.json["hits"]}


def test_replaced_documents_have_the_metadata_of_their_new_texts(live, lexigraft):
    assert lexigraft("index", "add", "live", "--data", "later.jsonl", "--replace", "--json").json["metadata"] == [
        "year"
    ]
    assert found(lexigraft, "year >= 2020") == {"d1": {"year": 2020}, "d3": {"year": 2022}}
    assert found(lexigraft, "year != 2020") == {"d2": {"year": 1999}, "d3": {"year": 2022}}
    assert lexigraft("index", "merge", "live", "--all").status == 0
    assert found(lexigraft, "year < 2022") == {"d1": {"year": 2020}, "d2": {"year": 1999}}


def test_deleted_and_added_again(live, data, lexigraft):
    assert lexigraft("index", "delete", "live", "d2").status == 0
    assert found(lexigraft) == {"d1": {"year": 2020}}
    write(data / "bare.jsonl", [{"id": "d2", "text": "river again"}])
    assert lexigraft("index", "add", "live", "--data", "bare.jsonl").status == 0
    assert found(lexigraft) == {"d1": {"year": 2020}, "d2": {}}
    assert found(lexigraft, "not year = 2021").keys() == {"d1", "d2"}  # it has no year, and so the denial of any


def test_a_live_index_of_a_plain_one_has_its_metadata(data, lexigraft):
    assert lexigraft("index", "--data", "first.jsonl", "--out", "plain").status == 0
    write(data / "more.jsonl", [{"_id": "d1", "lang": "de"}])
    assert lexigraft("index", "metadata", "--index", "plain", "--file", "more.jsonl").status == 0
    assert lexigraft("index", "live", "plain", "--out", "live").status == 0
    assert found(lexigraft) == found(lexigraft, index="plain") == {
        "d1": {"year": 2020, "lang": "de"}, "d2": {"year": 2021},
    }  # fmt: skip
    assert lexigraft("run", "--data", "first.jsonl", "--out", "run", "--set", "run.systems=bm25").status == 0
    assert lexigraft("index", "live", "run/judged/bm25/index", "--out", "of-run").status == 0
    assert found(lexigraft, "year = 2021", "of-run") == {"d2": {"year": 2021}}
    assert lexigraft("index", "--data", "later.jsonl", "--out", "other").status == 0
    (data / "other.metadata").rename(data / "kept")
    (data / "plain.metadata").rename(data / "other.metadata")
    one_line_error(lexigraft("index", "live", "other", "--out", "again"), "other.metadata was made for another index")
    assert not (data / "again").exists()


def test_new_metadata_change_the_documents_that_they_name(live, data, lexigraft):
    lexigraft("index", "add", "live", "--data", "later.jsonl", "--replace")
    write(
        data / "new.jsonl", [{"_id": "d3", "lang": "de"}, {"_id": "d2", "year": "unknown"}, {"_id": "gone", "year": 1}]
    )
    made = lexigraft("index", "metadata", "--index", "live", "--file", "new.jsonl", "--json")
    columns = {column["key"]: (column["kind"], column["n_documents"]) for column in made.json["columns"]}
    assert columns == {"lang": ("text", 1), "year": ("text", 3)}  # one year is no number now
    assert "1 documents with metadata are not in the index" in made.stderr
    assert "year is kept as text and compares as text, because 'unknown' is not a number" in made.stderr
    assert found(lexigraft) == {"d1": {"year": "2020"}, "d2": {"year": "unknown"}, "d3": {"lang": "de", "year": "2022"}}
    generation = lexigraft("index", "status", "live", "--verify", "--json").json["generation"]
    one_line_error(lexigraft("index", "metadata", "--index", "live", "--data", "none.jsonl"), "no collection at")
    write(data / "others.jsonl", [{"_id": "gone", "year": 1}])
    one_line_error(lexigraft("index", "metadata", "--index", "live", "--file", "others.jsonl"), "nothing to filter by")
    assert lexigraft("index", "status", "live", "--json").json["generation"] == generation
    assert lexigraft("index", "metadata", "--index", "live", "--data", "first.jsonl", "--replace").status == 0
    assert found(lexigraft, "year > 0") == {"d1": {"year": 2020}, "d2": {"year": 2021}}
    assert found(lexigraft) == {"d1": {"year": 2020}, "d2": {"year": 2021}, "d3": {}}


def test_fields_that_cannot_be_read_leave_documents_without_metadata(live, data, lexigraft):
    (data / "beir").mkdir()
    write(data / "beir/corpus.jsonl", [{"_id": "d7", "title": "", "text": "river mud", "metadata": ["no", "object"]}])
    made = lexigraft("index", "add", "live", "--data", "beir")
    assert (made.status, "metadata are not kept: " in made.stderr) == (0, True)
    assert found(lexigraft)["d7"] == {}


def test_a_running_server_answers_with_the_new_metadata(live, data, lexigraft):
    server = InProcess([live])

    def asked(where):
        hits = server.post("/search", query="river", where=[where])["hits"]
        return {hit["doc_id"]: hit["metadata"] for hit in hits}

    assert asked("year >= 2021") == {"d2": {"year": 2021}}
    lexigraft("index", "add", "live", "--data", "later.jsonl", "--replace")
    server.shelf.refresh()
    assert asked("year >= 2020") == {"d1": {"year": 2020}, "d3": {"year": 2022}}
    (field,) = server.get("/systems")["systems"][0]["fields"]
    assert field == {"name": "year", "kind": "number", "values": [1999, 2020, 2022]}


def test_from_python(tmp_path):
    metadata = [{"year": 2020, "tags": ["a", "b"], "seen": date(2024, 3, 1), "free": True}, {"year": np.int64(2021)}]
    with Retriever.from_texts(["river stone", "river moss"], metadata=metadata) as retriever:
        hits = retriever.answer("river", where="year = 2020 and tags has b and seen <= 2024-03 and free = true").hits
        assert [hit.metadata for hit in hits] == [
            {"year": 2020, "tags": ("a", "b"), "seen": "2024-03-01", "free": "true"}
        ]
        retriever.add(["river delta", "river reeds"], ids=["1", "2"], replacing=True, metadata=iter([{"year": 5}, {}]))
        assert [hit.doc_id for hit in retriever.search("river", where="year < 2000")] == ["1"]
        retriever.delete(["0"])
        retriever.save(tmp_path / "saved")
    with Retriever.open(tmp_path / "saved") as saved:
        assert {hit.doc_id: hit.metadata for hit in saved.answer("river").hits} == {"1": {"year": 5}, "2": {}}
        saved.add(["river"], ids=["3"], metadata=[{"year": 6}])
        assert [hit.doc_id for hit in saved.search("river", where="year = 6")] == ["3"]


def test_a_file_from_python(data):
    with Retriever.from_file(data / "first.jsonl") as retriever:
        assert [hit.doc_id for hit in retriever.search("river", where="year > 2020")] == ["d2"]


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ([{"year": 1}], "only 1 ids, titles or metadata for more texts"),
        ([{}] * 3, "2 texts and more ids, titles or metadata"),
        ([{}, 7], r"metadata\[1\] = 7 is not allowed: a mapping"),
        ([{}, {"a": {"b": 1}}], "document '1' have as 'a' {'b': 1}, which is dict; give text, a number"),
        ([{"a": [1, [2]]}, {}], r"document '0' have in the list 'a' \[2\], which is list"),
        ([{3: 1}, {}], "document '0' have the key 3; keys are text"),
        ([{"a=b": 1}, {}], "document '0': the key 'a=b' cannot be named in a condition"),
        ([None, {}], r"metadata\[0\] = None is not allowed: a mapping"),
    ],
)
def test_wrong_metadata_from_python(metadata, problem):
    with pytest.raises(InputError, match=problem):
        Retriever.from_texts(["river stone", "river moss"], metadata=metadata)
    with Retriever.from_texts(["first"], ids=["x"]) as retriever:
        with pytest.raises(InputError, match=problem):
            retriever.add(["river stone", "river moss"], ids=["0", "1"], metadata=metadata)
        assert len(retriever) == 1  # nothing was added
