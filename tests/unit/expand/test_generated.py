import gzip
import json
import logging

import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.settings import LexicalSettings
from lexigraft.core.types import Document, Query, Vocabulary
from lexigraft.expand.generated import expanded_documents, expanded_queries, open_generated, read_generated
from lexigraft.vectors.lexical import LexicalQueryEncoder

VOCABULARY = Vocabulary(("date", "time", "zone"))


def json_file(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def file(tmp_path):
    records = (
        {"id": "q2", "text": "zone zone"},
        {"id": "q1", "text": ["time zone", "zone"]},
        {"id": "q2", "text": "date"},
    )
    return json_file(tmp_path / "g.jsonl", *records)


def test_texts_by_id_whatever_their_order(file):
    with open_generated(file) as texts:
        assert texts.of("q1") == ["time zone", "zone"]
        assert texts.of("q2") == ["zone zone", "date"]
        assert texts.report("queries") == {"missing": 0, "unknown": 0}


def test_tables_and_gzip(tmp_path):
    with gzip.open(tmp_path / "g.tsv.gz", "wt") as table:
        table.write("q1\ta text\twith a tab\nq 2\tanother\n")
    assert list(read_generated(tmp_path / "g.tsv.gz")) == [("q1", "a text\twith a tab"), ("q 2", "another")]


def test_query2doc_repeats_the_query(file):
    encoder = LexicalQueryEncoder(LexicalSettings(), VOCABULARY)
    queries = [Query("q1", "date time"), Query("q3", "date")]
    with open_generated(file) as texts:
        found = expanded_queries(queries, texts, encoder, VOCABULARY)
        assert texts.report("queries") == {"missing": 1, "unknown": 2}
    # 5 times date and time; once more time, and twice zone. A query without a text is asked as it is.
    assert [array.tolist() for array in found.row(0)] == [[0, 1, 2], [5, 6, 2]]
    assert [array.tolist() for array in found.row(1)] == [[0], [1]]
    with open_generated(file) as texts, pytest.raises(SettingError, match="repeats = 0"):
        expanded_queries(queries, texts, encoder, VOCABULARY, repeats=0)


def test_doc2query_appends(file):
    documents = [Document("q1", "A title", "its text."), Document("d9", "", "alone")]
    with open_generated(file) as texts:
        assert list(expanded_documents(documents, texts)) == [
            Document("q1", "A title", "its text. time zone zone"),
            documents[1],
        ]


def test_what_does_not_fit_is_counted_and_named(file, caplog):
    with caplog.at_level(logging.WARNING), open_generated(file) as texts:
        for identifier in ("q1", "x1", "x2", "x3", "x4"):
            texts.of(identifier)
        assert texts.report("queries") == {"missing": 4, "unknown": 2}
    missing, unknown = (record.getMessage() for record in caplog.records)
    assert "4 of 5 queries have no generated text" in missing
    assert "such as x1, x2, x3)" in missing
    assert "2 texts are of ids that are no queries here" in unknown
    assert "such as q2)" in unknown


def test_a_file_for_something_else(file):
    with open_generated(file) as texts, pytest.raises(InputError, match=r"no text for any of the 1 documents.*'q2'"):
        texts.of("d1")
        texts.report("documents")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": "a"}', "field 'id' must be a string, found None"),
        ('{"id": 3, "text": "a"}', "field 'id' must be a string, found 3"),
        ('{"id": "a"}', "field 'text' must be a string or a list of them, found None"),
        ('{"id": "a", "text": ["b", 1]}', "found 1"),
        ('{"id": "", "text": "b"}', "must not be empty"),
        ("[]", "expected a JSON object"),
    ],
)
def test_wrong_lines_are_named(tmp_path, line, says):
    (tmp_path / "g.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=says):
        list(read_generated(tmp_path / "g.jsonl"))


def test_wrong_files(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        list(read_generated(tmp_path / "absent.jsonl"))
    (tmp_path / "g.txt").touch()
    with pytest.raises(InputError, match=r"g.txt is not a file of generated text: .jsonl or .tsv"):
        list(read_generated(tmp_path / "g.txt"))
    (tmp_path / "g.tsv").write_text("no tab\n")
    with pytest.raises(InputError, match=r"g.tsv:1: expected id and text"):
        list(read_generated(tmp_path / "g.tsv"))
