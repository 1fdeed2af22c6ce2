"""A live index of BM25 grafted through the command line by vectors that were given."""

import numpy as np
import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.e2e.test_bad_input import one_line_error

FIRST = {"d1": "red fox", "d2": "red fox den", "d3": "grey stone", "d4": "grey stone wall", "d5": "grey wall"}
VECTORS = np.array([[1, 0, 0.1], [1, 0.1, 0], [0, 1, 0.1], [0.1, 1, 0], [0, 1, 0]], np.float32)


@pytest.fixture
def texts(tmp_path):
    write_collection(tmp_path / "first", [Document(doc_id, "", text) for doc_id, text in FIRST.items()])
    write_collection(tmp_path / "later", [Document("d6", "", "a burrow")])
    np.save(tmp_path / "first.npy", VECTORS)
    np.save(tmp_path / "later.npy", VECTORS[1:2])
    return tmp_path


def found(lexigraft, index, query):
    return [hit["doc_id"] for hit in lexigraft("search", "--index", index, query, "--json").json["hits"]]


def test_a_live_index_is_grafted_and_added_to(texts, lexigraft):
    live = texts / "live"
    lexigraft("index", "add", live, "--data", texts / "first")
    assert found(lexigraft, live, "den") == ["d2"]
    one_line_error(lexigraft("index", "graft", live, "--vectors", texts / "later.npy"), "1 rows", "5 documents")
    settings = ("--set", "grafted.borrowed=0.5", "--set", "grafted.told=0", "--set", "prune.budget=none")
    grafted = lexigraft("index", "graft", live, "--vectors", texts / "first.npy", *settings)
    assert "5 documents grafted as segment 000002" in grafted.stdout
    assert found(lexigraft, live, "den") == ["d2", "d1"]

    one_line_error(lexigraft("index", "add", live, "--data", texts / "later"), "by vectors that were given")
    added = lexigraft("index", "add", live, "--data", texts / "later", "--vectors", texts / "later.npy")
    assert "1 document added as segment 000003" in added.stdout
    assert set(found(lexigraft, live, "den")) == {"d1", "d2", "d6"}
    status = lexigraft("index", "status", live, "--verify")
    assert "grafted by vectors of 3 numbers (given): borrowed 0.5 of 10 neighbours, told 0" in status.stdout
    assert lexigraft("index", "merge", live, "--all").status == 0
    assert found(lexigraft, live, "den")[0] == "d2"


def test_what_cannot_be_grafted_says_so(texts, lexigraft):
    lexigraft("index", "--data", texts / "first", "--out", texts / "plain")
    lexigraft("index", "live", texts / "plain", "--out", texts / "copy")
    made = lexigraft("index", "graft", texts / "copy", "--vectors", texts / "first.npy")
    one_line_error(made, "is not a live index of BM25, which keeps the counts of words")
    one_line_error(lexigraft("index", "graft", texts / "plain", "--vectors", texts / "first.npy"), "another artifact")
