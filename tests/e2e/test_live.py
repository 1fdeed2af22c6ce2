"""The commands of a live index, as a user would call them, and what they say of bad input."""

import json
import shutil

import pytest

from lexigraft import Retriever
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.lock import writer_lock
from lexigraft.core.sealed_json import write_sealed
from lexigraft.core.settings import Settings
from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.model.encoder import FORMAT_VERSION, KIND, save_encoder
from lexigraft.model.imported import import_encoder
from lexigraft.retrieve.live_changes import Adding, add_documents
from tests.e2e.test_bad_input import one_line_error
from tests.families import write_backbone

FIRST = [Document("d1", "One", "kura mele tosi"), Document("d2", "Two", "vipa zane"), Document("d3", "", "fodo gixa")]
LATER = [Document("d4", "Four", "kura kura brue"), Document("d2", "Two again", "gixa mele")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """An untrained model over a few dozen subwords: what it writes is of no use, and always the same."""
    folder = tmp_path_factory.mktemp("model")
    encoder = import_encoder(str(write_backbone("bert", folder / "backbone", loud=5.0)))
    with write_artifact(folder / "model", Manifest(KIND, FORMAT_VERSION, {})) as draft:
        save_encoder(encoder, draft)
    return folder / "model"


@pytest.fixture
def texts(tmp_path):
    for name, documents in (("first", FIRST), ("later", LATER)):
        write_collection(tmp_path / name, documents)
    return tmp_path


@pytest.fixture
def live(texts, model, lexigraft):
    """Two documents and one: `d2` comes later."""
    assert lexigraft("encode", "--data", texts / "first", "--model", model, "--out", texts / "v1").status == 0
    added = lexigraft("index", "add", texts / "live", "--vectors", texts / "v1", "--json")
    assert (added.status, added.json["n_rows"], added.json["segment"]) == (0, 3, "000001"), added.stderr
    return texts / "live"


def found(lexigraft, index, query="kura"):
    return [
        (hit["doc_id"], hit["title"]) for hit in lexigraft("search", "--index", index, query, "--json").json["hits"]
    ]


def scores(lexigraft, index, query):
    hits = lexigraft("search", "--index", index, query, "--json").json["hits"]
    return {hit["doc_id"]: hit["score"] for hit in hits}


def test_texts_are_added_replaced_deleted_and_merged(live, texts, model, lexigraft):
    refused = lexigraft("index", "add", live, "--data", texts / "later")
    one_line_error(refused, "1 of the 2 documents to add are in", "such as 'd2'", "--replace")
    said = lexigraft("index", "add", live, "--data", texts / "later", "--replace")
    assert "2 documents added as segment 000002, 1 of them in the place of older ones" in said.stdout
    assert {title for _, title in found(lexigraft, live)} == {"One", "Two again", "fodo gixa", "Four"}
    assert lexigraft("index", "delete", live, "d1", "--json").json["n_documents"] == 1
    assert "One" not in {title for _, title in found(lexigraft, live)}
    one_line_error(lexigraft("explain", "--index", live, "kura", "d1"), "there is no document 'd1'")
    score = lexigraft("explain", "--index", live, "kura", "d4", "--json").json["score"]
    hits = lexigraft("search", "--index", live, "kura", "--json").json["hits"]
    assert {hit["doc_id"]: hit["score"] for hit in hits}["d4"] == score

    merged = lexigraft("index", "merge", live, "--all")
    assert "000001, 000002 became 000003: 3 documents, 2 deleted ones left out" in merged.stdout
    assert [hit["doc_id"] for hit in lexigraft("search", "--index", live, "kura", "--json").json["hits"]] == [
        hit["doc_id"] for hit in hits
    ]
    assert "nothing was merged" in lexigraft("index", "merge", live).stdout
    assert lexigraft("index", "merge", live, "--json").json["merges"] == []

    # The same as an index of what is left, made at once with the same model, but for the step of an impact: each of the
    # two has its own.
    left = [LATER[0], LATER[1], FIRST[2]]
    write_collection(texts / "left", left)
    lexigraft("encode", "--data", texts / "left", "--model", model, "--out", texts / "v3")
    lexigraft("index", "--vectors", texts / "v3", "--out", texts / "plain")
    for query in ("kura", "gixa brue", "mele"):
        assert scores(lexigraft, live, query) == pytest.approx(scores(lexigraft, texts / "plain", query), rel=0.02)


@pytest.mark.parametrize("bits", [8, 32])
def test_documents_are_added_in_the_bits_that_the_index_has(bits, texts, model, lexigraft):
    call = ("encode", "--data", texts / "first", "--model", model, "--set", f"model.bits={bits}", "--out", texts / "v1")
    assert lexigraft(*call).status == 0
    assert lexigraft("index", "add", texts / "live", "--vectors", texts / "v1").status == 0
    with Retriever.open(texts / "live") as retriever:
        assert retriever.add(["kura kura brue"], ["d4"]) == 1
    assert "d4" in scores(lexigraft, texts / "live", "kura")


def test_documents_are_added_by_a_program(live, texts, model, lexigraft):
    shutil.copytree(live, texts / "other")
    lexigraft("index", "add", live, "--data", texts / "later", "--replace")
    added = add_documents(texts / "other", iter(LATER), Settings(), Adding(replacing=True))
    assert (added.n_rows, added.n_replaced) == (2, 1)
    for query in ("kura", "gixa brue"):
        assert found(lexigraft, texts / "other", query) == found(lexigraft, live, query) != []


def test_status(live, lexigraft):
    lexigraft("index", "delete", live, "d1")
    facts = lexigraft("index", "status", live, "--verify", "--json").json
    assert (facts["documents"], facts["deleted"], facts["generation"], facts["verified"]) == (2, 1, 2, True)
    assert facts["segments"][0]["bytes"] > 1000
    shown = lexigraft("index", "status", live, "--verify").stdout
    assert "2 documents, 1 deleted; every byte is as it was written" in shown
    assert "000001" in shown


def test_an_index_comes_alive(collection, tmp_path, lexigraft):
    lexigraft("index", "--data", collection, "--out", tmp_path / "index")
    made = lexigraft("index", "live", tmp_path / "index", "--out", tmp_path / "live")
    assert (made.status, "6 documents" in made.stdout) == (0, True)
    query = "remove duplicates but keep order"
    assert found(lexigraft, tmp_path / "live", query) == found(lexigraft, tmp_path / "index", query)
    (tmp_path / "ids.txt").write_bytes(b"\xef\xbb\xbfd1\r\nd6\n\n")
    assert lexigraft("index", "delete", tmp_path / "live", "d3", "--ids", tmp_path / "ids.txt").status == 0
    assert found(lexigraft, tmp_path / "live", query)[0] == ("d2", "Sorting")
    refused = lexigraft("index", "add", tmp_path / "live", "--data", collection)
    one_line_error(refused, "made by BM25", "texts cannot be added", "lexigraft index add NEW --data DIR")
    lexigraft("run", "--data", collection, "--out", tmp_path / "run")
    vectors = tmp_path / "run/judged/bm25/vectors"  # of the same texts by the same settings: the vocabulary is the same
    answer = lexigraft("index", "add", tmp_path / "live", "--vectors", vectors, "--replace", "--json")
    assert (answer.json["n_rows"], answer.json["n_replaced"]) == (6, 3)
    assert found(lexigraft, tmp_path / "live", query) == found(lexigraft, tmp_path / "index", query)
    other = lexigraft("index", "add", tmp_path / "live", "--vectors", tmp_path / "run/judged/bm25-plain/vectors")
    one_line_error(other, "were made with different vocabularies")


def test_a_moved_live_index_finds_its_model_and_says_so_where_not(live, texts, lexigraft):
    before = found(lexigraft, live)
    shutil.move(live, texts / "moved")
    assert found(lexigraft, texts / "moved") == before  # in the same folder: the way to the model is the same
    (texts / "deep").mkdir()
    shutil.move(texts / "moved", texts / "deep/live")
    refused = lexigraft("index", "add", texts / "deep/live", "--data", texts / "later")
    one_line_error(refused, "the model of", "any more", "--vectors")


def test_bad_input(live, texts, collection, lexigraft):
    before = json.loads((live / "live.json").read_text())
    index = ("index", "--data", collection, "--out", texts / "plain")
    lexigraft(*index)
    one_line_error(lexigraft("index", "--data", collection), "give --out INDEX")
    one_line_error(lexigraft("index", "--keep", 3, "status", live), "--keep stands before 'status'")
    one_line_error(lexigraft("index", "add", live), "give --vectors VECTORS or --data DIR")
    one_line_error(lexigraft("index", "add", live, "--vectors", texts / "plain"), "holds a index, not a vectors")
    one_line_error(lexigraft("index", "add", live, "--vectors", texts / "v1", "--keep", 4), "keep = 4 does not fit")
    one_line_error(lexigraft("index", "add", texts / "plain", "--vectors", texts / "v1"), "is not a live index")
    one_line_error(lexigraft("index", "add", texts / "absent", "--data", texts / "nothing"), "no collection at")
    one_line_error(lexigraft("index", "delete", texts / "absent", "d1"), "no live index at", "index add --data")
    passages = ("--set", "data.passage_words=2", "--set", "data.passage_overlap=0")
    one_line_error(
        lexigraft("index", "add", live, "--data", texts / "later", *passages), "are passages", "whole documents"
    )
    one_line_error(lexigraft("index", "delete", live), "give the ids of documents")
    one_line_error(lexigraft("index", "delete", live, "d1", "x", "y"), "2 of 3 ids are not in", "'x', 'y'", "nothing")
    one_line_error(lexigraft("index", "delete", live, "d1", "--missing", "perhaps"), "'error' or 'ok'")
    (texts / "latin1").write_bytes(b"caf\xe9\n")
    one_line_error(lexigraft("index", "delete", live, "--ids", texts / "latin1"), "is not UTF-8")
    (texts / "lines").write_text("d1\u2028d2\n")  # one id, with a mark that only some take for a line's end
    one_line_error(lexigraft("index", "delete", live, "--ids", texts / "lines"), "1 of 1 ids are not in", "nothing")
    metadata = ("index", "metadata", "--index", live, "--file", texts / "lines")
    one_line_error(lexigraft(*metadata), "is not a file of metadata")
    one_line_error(lexigraft("index", "live", texts / "plain", "--out", texts / "plain/live"), "is within the index")
    one_line_error(lexigraft("search", "--index", live, "kura", "--where", "x=1"), "no metadata", "index metadata")
    one_line_error(lexigraft("search", "--index", live, "kura", "--overlap", "3"), "overlap = 3.0 is not allowed")
    one_line_error(lexigraft("index", "status", texts / "plain"), "it never changes", "lexigraft index live")
    one_line_error(lexigraft("index", "live", live, "--out", texts / "again"), "is a live index already")
    one_line_error(lexigraft("index", "live", texts / "plain", "--out", live), "holds a live index already")
    one_line_error(lexigraft("index", "live", texts / "plain", "--out", collection), "is not a live index")
    with writer_lock(live):
        one_line_error(lexigraft("index", "delete", live, "d1"), "is writing to")
        assert found(lexigraft, live)
    assert json.loads((live / "live.json").read_text()) == before
    assert not (texts / "absent").exists()
    assert not (texts / "again").exists()
    state = (live / "live.json").read_bytes()
    (live / "live.json").write_bytes(state.replace(b'"generation": 1', b'"generation": 2'))
    one_line_error(lexigraft("search", "--index", live, "kura"), "live.json does not match its checksum")
    one_line_error(lexigraft("index", "status", live), "live.json does not match its checksum")


def test_a_model_that_was_trained_again_is_refused(live, texts, model, tmp_path, lexigraft):
    own = tmp_path / "own"
    shutil.copytree(model, own)
    lexigraft("encode", "--data", texts / "first", "--model", own, "--out", texts / "v2")
    lexigraft("index", "add", texts / "other", "--vectors", texts / "v2")
    manifest = json.loads((own / "manifest.json").read_text())
    write_sealed(own / "manifest.json", {**manifest, "seed": 7})
    refused = lexigraft("index", "add", texts / "other", "--data", texts / "later", "--replace")
    one_line_error(refused, "was trained again")
