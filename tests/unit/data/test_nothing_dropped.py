"""What only one of two could be read of is said, and never decided silently."""

import logging

import pyarrow
import pytest
from pyarrow import parquet

from lexigraft.core.errors import InputError
from lexigraft.data.collection import open_collection
from lexigraft.data.readers.metadata import file_metadata

DOCUMENT = '{"_id": "1", "text": "tea"}\n'


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (("corpus.jsonl", "corpus.jsonl.gz"), r"corpus\.jsonl and corpus\.jsonl\.gz are two files of one name"),
        (("corpus.jsonl", "corpus.csv"), r"corpus\.csv and corpus\.jsonl are two files of one name"),
        (("corpus.jsonl", "documents.tsv"), r"corpus\.jsonl and documents\.tsv are both files of documents"),
        (("corpus.jsonl", "collection.tsv"), r"collection\.tsv and corpus\.jsonl are both files of documents"),
        (("corpus.jsonl", "queries.jsonl", "queries.csv"), r"queries\.csv and queries\.jsonl are two files"),
        (("corpus.jsonl", "queries.jsonl", "queries.tsv"), r"queries\.jsonl and queries\.tsv are two files"),
        (("corpus.jsonl", "qrels/test.tsv", "qrels/test.csv"), r"test\.csv and test\.tsv are two files"),
        (("corpus.jsonl", "qrels/test.tsv", "qrels.test.tsv"), r"test\.tsv and qrels\.test\.tsv are both judgements"),
        (("corpus.jsonl", "qrels.dev.tsv", "qrels.dev.tsv.gz"), r"qrels\.dev\.tsv\.gz are both judgements of 'dev'"),
        (
            ("corpus.jsonl", "qidpidtriples.train.tsv", "qidpidtriples.train.tsv.gz"),
            r"qidpidtriples\.train\.tsv and .* are both judgements of 'train'",
        ),
    ],
)
def test_several_files_for_one_part(tmp_path, files, says):
    (tmp_path / "qrels").mkdir()
    for name in files:
        (tmp_path / name).write_text(DOCUMENT)
    with pytest.raises(InputError, match=f"{says}.*; keep the one that is meant"):
        open_collection(tmp_path)


def test_query_files_that_are_passed_over_are_named(tmp_path, caplog):
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / name).write_text(DOCUMENT)
    (tmp_path / "queries.dev.tsv").write_text("1\ttea\n")
    with caplog.at_level(logging.WARNING):
        assert [file.name for file in open_collection(tmp_path).query_files] == ["queries.jsonl"]
    assert "queries.dev.tsv is not read" in caplog.text


def test_a_key_that_an_object_has_twice(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(DOCUMENT + '{"_id": "2", "text": "a", "text": "b"}\n')
    with pytest.raises(InputError, match=r"corpus\.jsonl:2: an object has the key 'text' twice"):
        list(open_collection(tmp_path).documents())
    (tmp_path / "corpus.jsonl").write_text('{"_id": "2", "text": "a", "metadata": {"year": 1, "year": 2}}\n')
    with pytest.raises(InputError, match=r"corpus\.jsonl:1: an object has the key 'year' twice"):
        list(open_collection(tmp_path).documents())
    (tmp_path / "docs.json").write_text('[{"id": "2", "text": "a", "text": "b"}]')
    with pytest.raises(InputError, match=r"docs\.json:1: an object has the key 'text' twice"):
        list(open_collection(tmp_path / "docs.json").documents())


def test_a_column_that_a_table_has_twice(tmp_path):
    (tmp_path / "meta.tsv").write_text("_id\tyear\tyear\n1\t2020\t1999\n")
    with pytest.raises(InputError, match=r"meta\.tsv:1: two columns are named 'year'"):
        list(file_metadata(tmp_path / "meta.tsv"))
    (tmp_path / "meta.jsonl").write_text('{"_id": "1", "year": 2020, "year": 1999}\n')
    with pytest.raises(InputError, match=r"meta\.jsonl:1: an object has the key 'year' twice"):
        list(file_metadata(tmp_path / "meta.jsonl"))
    columns = [pyarrow.array(["1"]), pyarrow.array(["tea"]), pyarrow.array(["milk"])]
    parquet.write_table(pyarrow.Table.from_arrays(columns, names=["id", "text", "text"]), tmp_path / "docs.parquet")
    with pytest.raises(InputError, match=r"docs\.parquet: two columns are named 'text'"):
        list(open_collection(tmp_path / "docs.parquet").documents())
