"""Documents with their expansions: of a file, whole or in passages, in collections that stay what they are."""

import json

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import CORPUS, open_collection
from lexigraft.data.passages import cut_passages
from lexigraft.data.write import write_collection
from lexigraft.expand.generated import open_generated
from lexigraft.stages.expanded_documents import Expansions, expanded, expanded_collection, named_expansions
from lexigraft.vocab.expansions import split_expansion

DOCUMENTS = [Document("d1", "one\x1e", "a b\x1e c"), Document("d2", "", "d e f"), Document("d3", "", "g")]


@pytest.fixture
def file(tmp_path):
    lines = [{"id": "d2", "text": ["x y", "z"]}, {"id": "d1", "text": "v\x1ew"}]
    path = tmp_path / "expansions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_readers_get(file):
    with open_generated(file) as generated:
        found = [split_expansion(document.contents) for document in expanded(DOCUMENTS, generated)]
    assert found == [("one  a b  c", "v w"), ("d e f", "x y z"), ("g", "")]
    assert [split_expansion(document.contents)[1] for document in expanded(DOCUMENTS, None)] == ["", "", ""]


def test_passages_get_what_their_document_has(file):
    with open_generated(file) as generated:
        found = list(expanded(cut_passages(DOCUMENTS[1:2], 2, 0), generated, passages=True))
    assert [(one.doc_id, split_expansion(one.text)) for one in found] == [
        ("d2#0", ("d e", "x y z")),
        ("d2#1", ("f", "x y z")),
    ]


def test_a_collection_is_the_same_but_for_its_documents(file, tmp_path, caplog):
    write_collection(tmp_path / "data", DOCUMENTS, [Query("q", "a")], {"train": [Qrel("q", "d1", 1)]})
    collection = open_collection(tmp_path / "data")
    with expanded_collection(collection, Expansions(file, "")) as found:
        texts = [split_expansion(document.text)[1] for document in found.documents()]
        assert "1 of 3 documents have no generated text and stay as they are (such as d3)" in caplog.text
        caplog.clear()
        assert [split_expansion(document.text)[1] for document in found.documents()] == texts == ["v w", "x y z", ""]
        assert not caplog.text  # said once
        assert (list(found.queries()), found.qrels("train")) == (list(collection.queries()), collection.qrels("train"))
        assert (found.name, found.splits, found.digest(CORPUS)) == ("data", ("train",), collection.digest(CORPUS))
        assert found.description() == collection.description()
    with expanded_collection(collection, None) as found:
        assert found is collection


def test_a_file_counts_by_its_content(file, tmp_path):
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(file.read_bytes())
    assert named_expansions(str(moved)).digest == named_expansions(str(file)).digest
    assert named_expansions("") is None
    with pytest.raises(InputError, match=r"model.expansions = 'nowhere.jsonl': there is no such file"):
        named_expansions("nowhere.jsonl")
