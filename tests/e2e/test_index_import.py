"""An index goes out and comes back by the command line, and is searched."""

import pytest

from tests.e2e.test_bad_input import one_line_error


@pytest.fixture
def bits():
    return 8


@pytest.fixture
def index(bits, collection, tmp_path, lexigraft):
    made = lexigraft("index", "--data", collection, "--out", tmp_path / "index", "--set", f"index.bits={bits}")
    assert made.status == 0, made.stderr
    return tmp_path / "index"


def hits(answer):
    return [(hit["rank"], hit["doc_id"]) for hit in answer.json["hits"]]


@pytest.mark.parametrize(
    ("target", "format_", "name", "bits"),
    [("ciff", "ciff", "index.ciff", 16), ("ciff", "ciff", "index.ciff", 8), ("anserini", "vectors", "collection", 8)],
)
def test_out_and_back(target, format_, name, bits, index, tmp_path, lexigraft):
    out, back = tmp_path / "out", tmp_path / "back"
    told = lexigraft("export", target, index, "--out", out)
    assert told.status == 0, told.stderr
    found = lexigraft("index", "import", out / name, "--format", format_, "--out", back, "--like", index, "--json").json
    assert found["weights_kept"]
    question = "remove duplicate items, sorted by dates"
    expected = hits(lexigraft("search", "--index", index, question, "--json"))
    assert len(expected) > 2
    assert hits(lexigraft("search", "--index", back, question, "--json")) == expected
    moved = tmp_path / "elsewhere"
    told = lexigraft("index", "import", out / name, "--format", format_, "--out", moved)
    assert told.status == 0, told.stderr
    assert f"{bits} bits, as in the file" in told.stdout
    terms = "remov duplic item^2"
    assert hits(lexigraft("search", "--index", moved, terms, "--json"))[0] == (1, "d1")
    explained = lexigraft("explain", "--index", moved, terms, "d1")
    assert explained.status == 0, explained.stderr


def test_queries_go_out_with_an_index(index, tmp_path, lexigraft):
    (tmp_path / "q.tsv").write_text("q1\tdates\nq2\tzzz\n")
    answer = lexigraft("export", "anserini", index, "--out", tmp_path / "out", "--queries", tmp_path / "q.tsv")
    assert answer.status == 0, answer.stderr
    assert (tmp_path / "out/topics.tsv").read_text() == "q1\tdate\n"
    assert "1 query has no term of the vocabulary and is left out" in answer.stdout


def test_a_wrong_weight_of_a_query_is_one_line(index, tmp_path, lexigraft):
    assert lexigraft("export", "ciff", index, "--out", tmp_path / "out").status == 0
    call = ("index", "import", tmp_path / "out/index.ciff", "--format", "ciff", "--out", tmp_path / "back")
    assert lexigraft(*call).status == 0
    one_line_error(lexigraft("search", "--index", tmp_path / "back", "date^0"), "'date^0'", "a number above 0")


def test_a_wrong_file_is_one_line(tmp_path, lexigraft):
    (tmp_path / "no.ciff").write_bytes(b"\x1f\x8b\x08 something packed")
    answer = lexigraft("index", "import", tmp_path / "no.ciff", "--format", "ciff", "--out", tmp_path / "index")
    one_line_error(answer, "no.ciff", "header")
    assert not (tmp_path / "index").exists()
