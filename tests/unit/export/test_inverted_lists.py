"""CIFF, PISA's files and Anserini's JSON vectors of a small index, read by others and by hand."""

import json

import numpy as np
import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import InputError
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import Query, SparseMatrix, Vocabulary
from lexigraft.export import anserini
from lexigraft.export.lists import pisa_binding
from lexigraft.export.targets import Wanted, export
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.vectors.store import DocumentVectors
from tests import ciff

TERMS = ["über", "zoo", "a", "unused", "日本", "#"]
ROWS = {"d0": {2: 255.0, 0: 1.0}, "leer": {}, "d#2": {1: 7.0, 4: 130.0, 5: 2.0}, "é 3": {0: 200.0, 2: 3.0}}
QUERIES = (Query("q1", "zoo^2 a"), Query("q2", "nothing known"), Query("q3", "日本^255"))


def make_index(folder, rows=ROWS, terms=TERMS, bits=8, titles=None):
    """An index whose impacts are the weights, and whose queries are terms by their names."""
    vocabulary = Vocabulary(list(terms))
    matrix = SparseMatrix(
        list(rows),
        np.cumsum([0, *map(len, rows.values())], dtype=np.int64),
        np.array([term for row in rows.values() for term in sorted(row)], np.int32),
        np.array([row[term] for row in rows.values() for term in sorted(row)], np.float32),
        len(terms),
        vocabulary.fingerprint,
    )
    vectors = DocumentVectors(
        matrix, titles or [f"Title of {name}" for name in rows], vocabulary, {"kind": "terms"}, ""
    )
    with write_artifact(folder, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, settings=IndexSettings(bits=bits), scale=1.0)
    return folder


@pytest.fixture
def index(tmp_path):
    return make_index(tmp_path / "index")


def exported(target, index, folder, **wanted):
    return export(target, Wanted(index, **wanted), folder)


def test_ciff_as_protobuf_reads_it(index, tmp_path):
    found = exported("ciff", index, tmp_path / "out", queries=QUERIES)
    header, lists, records = ciff.parse((tmp_path / "out/index.ciff").read_bytes())
    assert (header.version, header.num_postings_lists, header.num_docs) == (1, 5, 4)
    assert (header.total_postings_lists, header.total_docs, header.total_terms_in_collection) == (5, 4, 598)
    assert header.average_doclength == 598 / 4
    assert [one.term for one in lists] == ["#", "a", "zoo", "über", "日本"], "the order of their bytes"
    assert [(one.df, one.cf) for one in lists] == [(1, 2), (2, 258), (1, 7), (2, 201), (1, 130)]
    assert [[(p.docid, p.tf) for p in one.postings] for one in lists] == [
        [(2, 2)], [(0, 255), (3, 3)], [(2, 7)], [(0, 1), (3, 200)], [(2, 130)]
    ]  # fmt: skip
    assert [(one.docid, one.collection_docid, one.doclength) for one in records] == [
        (0, "d0", 256), (1, "leer", 0), (2, "d#2", 139), (3, "é 3", 203)
    ]  # fmt: skip
    assert found.facts["n_lists"] == 5
    assert any(line == "terms of the vocabulary that no document has: 1" for line in found.lost)
    assert any("1 query has no term" in line for line in found.lost)
    assert (tmp_path / "out/queries.txt").read_text() == "q1:zoo zoo a\nq3:" + " ".join(["日本"] * 255) + "\n"
    weighted = [json.loads(line) for line in (tmp_path / "out/queries.jsonl").read_text().splitlines()]
    assert weighted == [
        {"qid": "q1", "query_toks": {"zoo": 2, "a": 1}}, {"qid": "q3", "query_toks": {"日本": 255}}
    ]  # fmt: skip


def test_a_long_list_is_written_in_parts(tmp_path, monkeypatch):
    rows = {f"d{row}": {0: float(row % 255 + 1)} for row in range(50)}
    index = make_index(tmp_path / "index", rows, ["a"])
    exported("ciff", index, tmp_path / "one")
    monkeypatch.setattr("lexigraft.export.ciff.POSTINGS_AT_ONCE", 7)
    monkeypatch.setattr("lexigraft.export.ciff.RECORDS_AT_ONCE", 3)
    exported("ciff", index, tmp_path / "parts")
    assert (tmp_path / "one/index.ciff").read_bytes() == (tmp_path / "parts/index.ciff").read_bytes()
    assert len(ciff.parse((tmp_path / "one/index.ciff").read_bytes()).lists[0].postings) == 50


def sequences(path):
    numbers, found, at = np.fromfile(path, "<u4").tolist(), [], 0
    while at < len(numbers):
        found.append(numbers[at + 1 : (at := at + 1 + numbers[at])])
    assert at == len(numbers)
    return found


def test_the_files_of_pisa(index, tmp_path, monkeypatch):
    monkeypatch.setattr(pisa_binding, "is_installed", lambda: False)
    found = exported("pisa", index, tmp_path / "out")
    inside = tmp_path / "out/index"
    assert sequences(inside / "inv.docs") == [[4], [2], [0, 3], [2], [0, 3], [2]]
    assert sequences(inside / "inv.freqs") == [[2], [255, 3], [7], [1, 200], [130]]
    assert sequences(inside / "inv.sizes") == [[256, 0, 139, 203]]
    assert (inside / "fwd.terms").read_text() == "#\na\nzoo\nüber\n日本\n"
    assert (inside / "fwd.documents").read_text() == "d0\nleer\nd#2\né 3\n"
    lexicon = (inside / "fwd.termlex").read_bytes()
    assert np.frombuffer(lexicon[:56], "<u8").tolist() == [5, 0, 1, 2, 5, 10, 16]
    assert lexicon[56:].decode() == "#azooüber日本"
    assert json.loads((inside / "pt_meta.json").read_text())["stemmer"] == "none"
    assert not found.facts["compressed"]
    assert any("not installed" in line for line in found.lost)


def test_json_vectors(index, tmp_path):
    found = exported("anserini", index, tmp_path / "out", queries=QUERIES)
    lines = [json.loads(line) for line in (tmp_path / "out/collection/docs00000.jsonl").read_text().splitlines()]
    assert lines == [
        {
            "id": name,
            "contents": f"Title of {name}",
            "vector": {TERMS[term]: int(weight) for term, weight in row.items()},
        }
        for name, row in ROWS.items()
    ]
    assert [list(line["vector"]) for line in lines] == [["a", "über"], [], ["#", "zoo", "日本"], ["a", "über"]]
    assert (tmp_path / "out/topics.tsv").read_text().splitlines()[0] == "q1\tzoo zoo a"
    assert any("ids with white space (1)" in line for line in found.lost)
    assert any(line.endswith("Anserini leaves out: 1") for line in found.lost)


def test_json_vectors_in_shards_and_pieces(index, tmp_path, monkeypatch):
    exported("anserini", index, tmp_path / "one")
    whole = (tmp_path / "one/collection/docs00000.jsonl").read_bytes()
    monkeypatch.setattr(anserini, "ROWS_A_SHARD", 3)
    monkeypatch.setattr("lexigraft.export.lists.vector_lines.ENTRIES_AT_ONCE", 2)
    monkeypatch.setattr("lexigraft.export.lists.vector_lines.ROWS_AT_ONCE", 3)
    exported("anserini", index, tmp_path / "two")
    files = sorted((tmp_path / "two/collection").iterdir())
    assert [file.name for file in files] == ["docs00000.jsonl", "docs00001.jsonl"]
    assert b"".join(file.read_bytes() for file in files) == whole


def refused(target, index, tmp_path, *says, **wanted):
    with pytest.raises(InputError) as raised:
        exported(target, index, tmp_path / "refused", **wanted)
    assert "\n" not in str(raised.value)
    for text in says:
        assert text in str(raised.value)
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize("term", ["two words", "a\tb", "a\u2003b", "\x01a", "x" * 256, "😀" * 128])
def test_anserini_takes_no_term_that_its_tokenizer_cuts(term, tmp_path):
    index = make_index(tmp_path / "index", {"d": {0: 1.0}}, [term])
    refused("anserini", index, tmp_path, "the term", "white space" if len(term) < 10 else "255 characters")


@pytest.mark.parametrize("term", ["x" * 255, "no\u00a0break", "a\u0085b"])
def test_anserini_takes_what_java_does_not_call_white_space(term, tmp_path):
    index = make_index(tmp_path / "index", {"d": {0: 1.0}}, [term])
    exported("anserini", index, tmp_path / "out")


@pytest.mark.parametrize("target", ["ciff", "pisa"])
@pytest.mark.parametrize(("terms", "doc_id", "says"), [(["a\nb"], "d", "the term"), (["a"], "d\r1", "the document id")])
def test_what_ends_a_line_is_no_name_to_pisa(target, terms, doc_id, says, tmp_path):
    refused(target, make_index(tmp_path / "index", {doc_id: {0: 1.0}}, terms), tmp_path, says, "holds a line end")


@pytest.mark.parametrize("target", ["ciff", "pisa", "anserini"])
def test_ids_of_queries_are_one_word(target, index, tmp_path):
    refused(target, index, tmp_path, "query id 'q 1'", queries=[Query("q 1", "a")])


def test_a_colon_ends_the_id_of_a_query_to_pisa(index, tmp_path):
    refused("pisa", index, tmp_path, "query id 'q:1'", queries=[Query("q:1", "a")])


def test_capital_letters_are_found_by_pisas_command_line_alone(tmp_path):
    """Its binding looks terms of queries up in lower case."""
    index = make_index(tmp_path / "index", {"d": {0: 1.0, 1: 1.0}}, ["dot", "dOt"])
    refused("pisa", index, tmp_path, "the term 'dOt'", "lower case", "ciff")
    assert any("capital letters (1)" in line for line in exported("ciff", index, tmp_path / "out").lost)


def test_finer_impacts(tmp_path):
    """CIFF and PISA have them, and say what a float cannot; Anserini's texts would be too long."""
    index = make_index(tmp_path / "index", {"d": {0: 2.0**24 - 1, 1: 70_000.0}}, ["a", "b"], bits=24)
    found = exported("ciff", index, tmp_path / "out", queries=[Query("q", "a^60000 b^60000")])
    assert any("round scores above 16,777,216" in line for line in found.lost)
    assert [one.cf for one in ciff.parse((tmp_path / "out/index.ciff").read_bytes()).lists] == [2**24 - 1, 70_000]
    refused("anserini", index, tmp_path, "impacts of 24 bits", "index.bits")


def test_a_document_that_is_too_long_for_32_bits(tmp_path):
    row = dict.fromkeys(range(129), 2.0**24 - 1)
    index = make_index(tmp_path / "index", {"d": row}, [f"t{term}" for term in range(129)], bits=24)
    refused("ciff", index, tmp_path, "document 'd'", "2,164,260,735", "2,147,483,647")


def test_queries_that_would_be_repeated_too_often(index, tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.export.lists.query_files.MOST_REPEATED", 3)
    found = exported("pisa", index, tmp_path / "out", queries=[Query("q1", "zoo^3"), Query("q2", "zoo^3 a")])
    assert any(line.startswith("queries.txt") for line in found.lost)
    assert not (tmp_path / "out/queries.txt").exists()
    assert len((tmp_path / "out/queries.jsonl").read_text().splitlines()) == 2
    monkeypatch.setattr(anserini, "MOST_REPEATED", 3)
    refused("anserini", index, tmp_path, "query 'q2'", "--qk", queries=[Query("q2", "zoo^3 a")])


def test_an_index_without_postings_is_none_to_pisa(tmp_path):
    refused("pisa", make_index(tmp_path / "index", {"d": {}}, ["a"]), tmp_path, "no postings")


def test_the_same_index_gives_the_same_bytes(index, tmp_path):
    for target in ("ciff", "anserini"):
        for out in ("one", "two"):
            exported(target, index, tmp_path / target / out, queries=QUERIES)
        one, two = (
            {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
            for folder in (tmp_path / target / "one", tmp_path / target / "two")
        )
        assert one == two
