import gzip
import logging

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.reading import Reading


def make(folder, corpus='{"_id": "1", "title": "T", "text": "x"}\n', queries='{"_id": "q", "text": "x"}\n', **qrels):
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(corpus)
    (folder / "queries.jsonl").write_text(queries)
    for split, text in qrels.items():
        (folder / "qrels" / f"{split}.tsv").write_text(text)
    return folder


def test_plain_and_gzip_give_the_same(tmp_path):
    plain = make(tmp_path / "plain", test="query-id\tcorpus-id\tscore\nq\t1\t2\n")
    packed = make(tmp_path / "packed", test="q\t1\t2\n")  # and the header may be absent
    for name in ("corpus.jsonl", "queries.jsonl"):
        (packed / f"{name}.gz").write_bytes(gzip.compress((packed / name).read_bytes()))
        (packed / name).unlink()
    for folder in (plain, packed):
        found = open_collection(folder)
        assert list(found.documents()) == [Document("1", "T", "x")]
        assert list(found.queries()) == [Query("q", "x")]
        assert found.qrels("test") == [Qrel("q", "1", 2)]


def test_contents_are_title_and_text():
    assert Document("1", "T", "x").contents == "T x"
    assert Document("1", "", "x").contents == "x"


def test_evaluation_split(tmp_path):
    rows = "q\t1\t1\n"
    assert open_collection(make(tmp_path / "a", test=rows, dev=rows, train=rows)).evaluation_split("auto") == "test"
    assert open_collection(make(tmp_path / "b", dev=rows, train=rows)).evaluation_split("auto") == "dev"
    assert open_collection(make(tmp_path / "c", train=rows)).evaluation_split("auto") is None
    assert open_collection(tmp_path / "c").evaluation_split("train") == "train"
    with pytest.raises(InputError, match="no judgements for split 'test'; present: train"):
        open_collection(tmp_path / "c").evaluation_split("test")


@pytest.mark.parametrize(
    ("corpus", "says"),
    [
        ('{"_id": "1", "text": "x"}\n{"_id": "2", "text"\n', r"corpus\.jsonl:2: not valid JSON"),
        ('{"_id": "1", "text": "x"}\n\n[1]\n', r"corpus\.jsonl:3: expected a JSON object"),
        ('{"text": "x"}\n', r"corpus\.jsonl:1: field '_id' is missing; present: text"),
        ('{"_id": 1, "text": "x"}\n', "field '_id' is not a string: 1"),
        ('{"_id": "1"}\n', "field 'text' is missing"),
        ('{"_id": "", "text": "x"}\n', "must not be empty"),
        ('{"_id": "1", "title": 3, "text": "x"}\n', "field 'title' is not a string"),
    ],
)
def test_bad_lines_are_named(tmp_path, corpus, says):
    with pytest.raises(InputError, match=says):
        list(open_collection(make(tmp_path / "c", corpus)).documents())


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("q\t1\t1\nq 1 1\n", r"test\.tsv:2: expected query-id"),
        ("q\t1\t1\nq\t1\tyes\n", r"test\.tsv:2: the score 'yes'"),
    ],
)
def test_bad_judgements_are_named(tmp_path, qrels, says):
    with pytest.raises(InputError, match=says):
        open_collection(make(tmp_path / "c", test=qrels)).qrels("test")


def test_missing_collections(tmp_path):
    with pytest.raises(InputError, match="there is no collection at"):
        open_collection(tmp_path / "absent")
    with pytest.raises(InputError, match="not a collection in BEIR layout"):
        open_collection(tmp_path)


def test_other_encodings_and_cut_gzip(tmp_path):
    folder = make(tmp_path / "c")
    (folder / "corpus.jsonl").write_bytes('{"_id": "1", "text": "café"}'.encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        list(open_collection(folder).documents())
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "1", "text": "x"}\n' * 100)[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(open_collection(folder, Reading("skip")).documents())


def test_duplicate_ids_are_an_error_or_keep_the_first_and_are_counted(tmp_path, caplog):
    lines = "".join(f'{{"_id": "{i}", "text": "{t}"}}\n' for i, t in [(1, "a"), (2, "b"), (1, "c"), (1, "d")])
    folder = make(tmp_path / "c", lines)
    with pytest.raises(InputError, match=r":3: the _id '1' was used on line 1 already.*on_duplicate.*skip"):
        list(open_collection(folder).documents())
    with caplog.at_level(logging.WARNING):
        assert [document.text for document in open_collection(folder, Reading("skip")).documents()] == ["a", "b"]
    assert "2 records dropped" in caplog.text
    assert "'1' on lines 1 and 3" in caplog.text


def test_many_ids_are_told_apart(tmp_path):
    lines = "".join(f'{{"_id": "{number}", "text": "x"}}\n' for number in range(5000))
    found = open_collection(make(tmp_path / "c", lines)).documents()
    assert [document.doc_id for document in found] == [str(number) for number in range(5000)]


def test_how_many_documents_there_are_is_known_by_lines(tmp_path):
    lines = "".join(f'{{"_id": "{number}", "text": "x"}}\n' for number in range(7))
    folder = make(tmp_path / "plain", lines)
    assert open_collection(folder).about_how_many() == len(list(open_collection(folder).documents())) == 7
    packed = make(tmp_path / "packed", lines)
    (packed / "corpus.jsonl.gz").write_bytes(gzip.compress((packed / "corpus.jsonl").read_bytes()))
    (packed / "corpus.jsonl").unlink()
    assert open_collection(packed).about_how_many() == 7
