"""Every layout gives the same nouns: MS MARCO's files, TREC topics and judgements, plain text, the catalogue."""

import gzip
import logging
import os
import re

import pytest

from lexigraft.core.errors import InputError, LexigraftError
from lexigraft.core.installing import install_extra
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import open_collection
from lexigraft.data.readers.judgements import Triple, read_judgements, read_triples
from lexigraft.data.readers.lines import read_lines
from lexigraft.data.readers.topics import read_queries
from lexigraft.data.reading import Reading
from lexigraft.data.sources import open_source


def queries_of(path):
    return [query for _, query in read_queries(path)]


def msmarco(folder):
    folder.mkdir()
    (folder / "collection.tsv").write_text("0\tThe first passage.\n1\tA second,\twith a tab\n")
    (folder / "queries.train.tsv").write_text("10\tfirst query\n")
    (folder / "queries.dev.tsv").write_text("11\tsecond query\n12\tthird\n")
    (folder / "queries.dev.small.tsv").write_text("11\tsecond query\n")
    (folder / "qrels.train.tsv").write_text("10\t0\t0\t1\n")
    (folder / "qrels.dev.small.tsv").write_text("11 0 1 1\n")
    return folder


def test_msmarco(tmp_path):
    found = open_collection(msmarco(tmp_path / "ms"))
    assert list(found.documents()) == [
        Document("0", "", "The first passage."),
        Document("1", "", "A second,\twith a tab"),
    ]
    assert sorted(found.queries()) == [Query("10", "first query"), Query("11", "second query"), Query("12", "third")]
    assert found.splits == ("dev.small", "train")
    assert found.qrels("dev.small") == [Qrel("11", "1", 1)]
    assert found.evaluation_split("auto") == "dev.small"


def test_msmarco_files_may_be_packed_and_long_documents(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "msmarco-docs.tsv.gz").write_bytes(gzip.compress(b"D1\thttp://a\tTitle\tBody text\n"))
    found = open_collection(folder)
    assert list(found.documents()) == [Document("D1", "Title", "Body text")]
    assert (list(found.queries()), found.splits) == ([], ())


def test_a_query_with_two_texts_in_two_files_is_an_error(tmp_path):
    folder = msmarco(tmp_path / "ms")
    (folder / "queries.dev.small.tsv").write_text("11\tanother text\n")
    with pytest.raises(InputError, match="query '11' has another text"):
        list(open_collection(folder).queries())


def test_triples_stand_in_for_training_judgements(tmp_path):
    folder = msmarco(tmp_path / "ms")
    (folder / "qidpidtriples.train.tsv").write_text("10\t1\t0\n10\t1\t5\n")
    assert open_collection(folder).qrels("train") == [Qrel("10", "0", 1)]  # judgements come first
    (folder / "qrels.train.tsv").unlink()
    assert open_collection(folder).qrels("train") == [Qrel("10", "1", 1)]
    assert list(read_triples(folder / "qidpidtriples.train.tsv"))[1] == Triple("10", "1", "5")


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        (
            "collection.tsv",
            "only-an-id\n",
            r"collection\.tsv:1: expected id and text separated by tabs, found 1 fields",
        ),
        ("collection.tsv", "\tno id\n", "must not be empty"),
        ("queries.dev.tsv", "nothing else\n", r"queries\.dev\.tsv:1: expected query-id and text"),
    ],
)
def test_bad_tsv_lines_are_named(tmp_path, name, line, says):
    folder = msmarco(tmp_path / "ms")
    (folder / name).write_text(line)
    with pytest.raises(InputError, match=says):
        found = open_collection(folder)
        list(found.documents()), list(found.queries())


OLD_TOPICS = """<top>
<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations that participate in crime.
</top>
<top>
<num> Number: 302 </num>
<title> Poliomyelitis </title>
</top>
"""
NEW_TOPICS = """<topics task="2020"><topic number="1"><query>coronavirus origin</query>
<question>what is it</question></topic>
<topic number="2"><title>second</title></topic></topics>"""


def test_trec_topics(tmp_path):
    (tmp_path / "topics.old.txt").write_text(OLD_TOPICS)
    (tmp_path / "topics.new.xml").write_text(NEW_TOPICS)
    (tmp_path / "topics.tsv").write_text("7\tplain text\n")
    old = [Query("301", "International Organized Crime"), Query("302", "Poliomyelitis")]
    assert queries_of(tmp_path / "topics.old.txt") == old
    assert queries_of(tmp_path / "topics.new.xml") == [Query("1", "coronavirus origin"), Query("2", "second")]
    assert queries_of(tmp_path / "topics.tsv") == [Query("7", "plain text")]


def test_titles_end_at_the_next_field_and_not_at_any_sign(tmp_path):
    (tmp_path / "old.txt").write_text("<top><num> 7 <title> apple &amp; pie < 3 <b>red</b> dollars\n<desc> x </top>")
    (tmp_path / "new.xml").write_text("<t><topic number='1'><query>apple <i>red</i> pie</query></topic></t>")
    assert queries_of(tmp_path / "old.txt") == [Query("7", "apple & pie < 3 red dollars")]
    assert queries_of(tmp_path / "new.xml") == [Query("1", "apple red pie")]


def test_a_topic_that_lacks_its_end_is_not_lost(tmp_path):
    first, second = "<top>\n<num> Number: 1\n<title> first\n", "<top>\n<num> Number: 2\n<title> second\n</top>\n"
    (tmp_path / "topics.txt").write_text(first + second)
    assert queries_of(tmp_path / "topics.txt") == [Query("1", "first"), Query("2", "second")]


def test_a_header_is_one_only_by_its_name(tmp_path):
    (tmp_path / "queries.tsv").write_text("qid\tquery\n10\tapple\n")
    assert queries_of(tmp_path / "queries.tsv") == [Query("10", "apple")]
    (tmp_path / "qrels").write_text("1\td1\thigh\n")
    with pytest.raises(InputError, match="the score 'high' is not a whole number"):
        list(read_judgements(tmp_path / "qrels"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<top><num>1</num></top>", "topic 1: a topic needs a number and a title"),
        ("<topics><topic number='1'>", "well-formed XML"),
        ("<other/>", "no <top> or <topic> was found"),
    ],
)
def test_bad_topics_are_named(tmp_path, text, says):
    (tmp_path / "topics.txt").write_text(text)
    with pytest.raises(InputError, match=says):
        queries_of(tmp_path / "topics.txt")


def test_trec_topics_and_judgements_in_a_folder(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "FT-1", "text": "x"}\n')
    (tmp_path / "topics.robust.txt").write_text(OLD_TOPICS)
    (tmp_path / "qrels.test.txt").write_text("301 0 FT-1 1\n302 Q0 FT-1 -1\n")
    found = open_collection(tmp_path)
    assert [query.query_id for query in found.queries()] == ["301", "302"]
    assert found.qrels("test") == [Qrel("301", "FT-1", 1), Qrel("302", "FT-1", -1)]  # a negative label stays


def test_judgements_of_both_kinds(tmp_path):
    (tmp_path / "trec").write_text("q 0 d 2\n\nq 0 e -1\n")
    (tmp_path / "beir").write_text("query-id\tcorpus-id\tscore\nq\ta document\t2\n")
    assert list(read_judgements(tmp_path / "trec")) == [Qrel("q", "d", 2), Qrel("q", "e", -1)]
    assert list(read_judgements(tmp_path / "beir")) == [Qrel("q", "a document", 2)]


def test_plain_text_is_a_collection_of_lines(tmp_path):
    (tmp_path / "a.txt").write_text("one line\n\nanother\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"packed\n"))
    assert [(d.doc_id, d.text) for d in open_source(str(tmp_path)).documents()] == [
        ("a-1", "one line"), ("a-3", "another"), ("b-1", "packed"),
    ]  # fmt: skip
    (tmp_path / "qrels.test.txt").write_text("q 0 a-1 1\n")
    (tmp_path / "topics.txt").write_text("q\ta query\n")
    whole = open_source(str(tmp_path))
    assert len(list(whole.documents())) == 3  # judgements and topics are no texts
    assert (list(whole.queries()), whole.qrels("test")) == ([Query("q", "a query")], [Qrel("q", "a-1", 1)])
    alone = open_source(str(tmp_path / "b.txt.gz"))
    assert [d.text for d in alone.documents()] == ["packed"]
    assert alone.digest("corpus") != open_source(str(tmp_path / "a.txt")).digest("corpus")
    assert (alone.digest("queries"), alone.digest("test")) == ("", "")


def test_one_wrong_byte_is_named_by_its_line(tmp_path, caplog):
    (tmp_path / "a.txt").write_bytes(b"fine\n" + "café".encode("latin-1") + "\ngrüß\n".encode())
    with pytest.raises(InputError, match=r"a\.txt:2 is not UTF-8 \(.* at byte 4 of the line\)"):
        list(open_collection(tmp_path).documents())
    with caplog.at_level(logging.WARNING):
        texts = [d.text for d in open_collection(tmp_path, Reading(on_bad_bytes="replace")).documents()]
    assert texts == ["fine", "caf�", "grüß"]
    assert "1 lines are not UTF-8 (such as line 2)" in caplog.text


def test_control_characters_and_lines_of_megabytes(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "1", "text": "a\tb\x01c"}\n{"_id": "2", "text": "%s"}\n' % ("w " * 2**20)
    )
    first, second = open_collection(tmp_path).documents()
    assert (first.text, len(second.text)) == ("a\tb\x01c", 2**21)


class TestCatalogue:
    """`ir_datasets` without a network: one of our own files, registered under an id."""

    @pytest.fixture
    def dataset(self, tmp_path):
        ir_datasets = pytest.importorskip("ir_datasets")
        from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries
        from ir_datasets.util import LocalDownload

        (tmp_path / "docs.tsv").write_text("d1\tfirst text\nd2\tsecond\n")
        (tmp_path / "queries.tsv").write_text("q1\ta query\n")
        (tmp_path / "qrels").write_text("q1 0 d2 1\n")
        parts = TsvDocs(LocalDownload(tmp_path / "docs.tsv")), TsvQueries(LocalDownload(tmp_path / "queries.tsv"))
        ir_datasets.registry.register(
            "lexigraft/test", ir_datasets.Dataset(*parts, TrecQrels(LocalDownload(tmp_path / "qrels"), {}))
        )
        yield "ir_datasets:lexigraft/test"
        del ir_datasets.registry._registered["lexigraft/test"]

    def test_an_id(self, dataset):
        found = open_source(dataset)
        assert list(found.documents()) == [Document("d1", "", "first text"), Document("d2", "", "second")]
        assert list(found.queries()) == [Query("q1", "a query")]
        assert (found.splits, found.qrels("test")) == (("test",), [Qrel("q1", "d2", 1)])
        assert found.digest("corpus") == "ir_datasets:lexigraft/test#corpus"
        assert found.digest("train") == ""
        with pytest.raises(InputError, match="no judgements for split 'dev'; present: test"):
            found.qrels("dev")

    def test_an_unknown_id(self):
        pytest.importorskip("ir_datasets")
        with pytest.raises(InputError, match="ir_datasets knows no 'no/such'"):
            open_source("ir_datasets:no/such")

    def test_without_the_library(self, monkeypatch):
        import sys

        monkeypatch.setitem(sys.modules, "ir_datasets", None)
        with pytest.raises(LexigraftError, match=re.escape(install_extra("ir-datasets"))):
            open_source("ir_datasets:vaswani")


def test_a_pipe_is_no_file_of_lines(tmp_path):
    """Files are read more than once: of a pipe the first bytes were lost, and one without a writer was waited for."""
    os.mkfifo(tmp_path / "queries.jsonl")
    with pytest.raises(OSError, match="not a plain file"):
        list(read_lines(tmp_path / "queries.jsonl"))
