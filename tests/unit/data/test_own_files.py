"""Users' files of every format give the same documents, and typical mistakes are named with their place."""

import gzip
import json
import sys
from datetime import datetime
from decimal import Decimal

import pytest

from lexigraft.core.errors import InputError, MissingExtraError
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import CORPUS, open_collection
from lexigraft.data.readers import lines
from lexigraft.data.readers.metadata import corpus_metadata
from lexigraft.data.reading import Reading

ROWS = [
    {"sku": 10, "name": "Kettle", "description": "Boils water, fast", "price": 19.5},
    {"sku": 11, "name": "Teapot", "description": 'Holds "tea"', "price": 24},
]
DOCUMENTS = [Document("10", "Kettle", "Boils water, fast"), Document("11", "Teapot", 'Holds "tea"')]
CSV = 'sku,name,description,price\n10,Kettle,"Boils water, fast",19.5\n11,Teapot,"Holds ""tea""",24\n'


def csv_file(path):
    path.write_text(CSV)


def semicolons(path):
    path.write_text('sku;name;description;price\n10;Kettle;Boils water, fast;19.5\n11;Teapot;"Holds ""tea""";24\n')


def windows(path):
    path.write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())


def packed(path):
    path.write_bytes(gzip.compress(CSV.encode()))


def tsv_file(path):
    rows = ("\t".join(map(str, row.values())) for row in ROWS)
    path.write_text("\n".join(["\t".join(ROWS[0]), *rows]))


def jsonl_file(path):
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))


def json_file(path):
    path.write_text(json.dumps(ROWS, indent=1))


def held_json(path):
    path.write_text(json.dumps({"version": 2, "products": ROWS}))


def parquet_file(path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {key: [row[key] for row in ROWS] for key in ROWS[0]}
    columns["price"] = [float(price) for price in columns["price"]]
    parquet.write_table(pyarrow.table(columns), path)


FORMATS = [
    ("products.csv", csv_file), ("products.csv", semicolons), ("products.csv", windows), ("products.csv.gz", packed),
    ("products.tsv", tsv_file), ("products.jsonl", jsonl_file), ("products.ndjson", jsonl_file),
    ("products.json", json_file), ("products.json", held_json), ("products.json", jsonl_file),
    ("products.parquet", parquet_file),
]  # fmt: skip


def documents_of(path, **reading):
    return list(open_collection(path, Reading(**reading)).documents())


@pytest.mark.parametrize(("name", "write"), FORMATS, ids=[f"{name}-{write.__name__}" for name, write in FORMATS])
def test_every_format_gives_the_same_documents_and_metadata(tmp_path, name, write):
    write(tmp_path / name)
    assert documents_of(tmp_path / name) == DOCUMENTS
    named = documents_of(tmp_path / name, fields="id=sku,title=,text=name,description")
    assert named[0] == Document("10", "", "Kettle\nBoils water, fast")
    numbered = documents_of(tmp_path / name, fields="id=,text=description")
    assert [document.doc_id for document in numbered] == ["1", "2"]
    assert dict(corpus_metadata(open_collection(tmp_path / name))) == {"10": {"price": 19.5}, "11": {"price": 24}}


def test_what_was_guessed_is_said_once(tmp_path, caplog):
    csv_file(tmp_path / "products.csv")
    with caplog.at_level("INFO"):
        for _ in range(2):
            documents_of(tmp_path / "products.csv")
    (said,) = caplog.messages
    assert said.endswith("id = sku, title = name, text = description; metadata: price (guessed; --fields names others)")
    caplog.clear()
    documents_of(tmp_path / "products.csv", fields="id=sku,title=name,text=description")
    assert not caplog.messages


def test_a_field_longer_than_the_csv_module_allows_and_one_over_several_lines(tmp_path):
    text = "tea\n" * 100_000
    (tmp_path / "long.csv").write_text(f'id,text\n1,"{text}"\n2,short\n')
    assert documents_of(tmp_path / "long.csv") == [Document("1", "", text), Document("2", "", "short")]


def test_lists_numbers_and_absent_values_are_text(tmp_path):
    rows = [{"id": "a", "text": ["one", "two"]}, {"id": "b", "text": 7}, {"id": 3, "title": "t"}]
    (tmp_path / "mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert documents_of(tmp_path / "mixed.jsonl") == [
        Document("a", "", "one\ntwo"), Document("b", "", "7"), Document("3", "t", "")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "", r"a\.csv is empty"),
        ("a.tsv", "\n\n", r"a\.tsv is empty"),
        ("a.jsonl", "", r"a\.jsonl is empty"),
        ("a.json", " \n", r"a\.json is empty"),
        ("a.json", "[]", "array is empty"),
        ("a.csv", "id,text\n", "has no records"),
        ("a.csv", "id,text,text\n1,a,b\n", r"a\.csv:1: two columns are named 'text'"),
        ("a.csv", "id,text\n1,a\n2,b,c\n", r"a\.csv:3: 3 fields, but the first line names 2 \(id, text\)"),
        ("a.tsv", "id\ttext\n1\ta\n2\n", r"a\.tsv:3: 1 fields, but the first line names 2"),
        ("a.csv", 'id,text\n1,a\n2,"open\n3,b\n4,c\n', r"a\.csv:3: a quote that opens .* never closes"),
        ("a.csv", 'id,text\n1,"open\n2,"b"\n', r"a\.csv:2: something follows a closing quote"),
        ("a.csv", 'id,text\n1,"12" screen"\n', r"a\.csv:2: something follows a closing quote"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 2, \n', r"a\.jsonl:2: not valid JSON"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n[1]\n', r"a\.jsonl:2: expected a JSON object, found list"),
        ("a.json", '[{"id": 1},\n{"id" 2}]', r"a\.json:2: not valid JSON"),
        ("a.json", '[{"id": 1, "text": "a"}, 3]', r"a\.json, item 2: expected a JSON object, found int"),
        ("a.json", '{"a": 1}', "an object with 0 arrays"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": true, "text": "b"}\n', r"a\.jsonl:2: the id .* whole number: True"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"text": "b"}\n', r"a\.jsonl:2: the id in field 'id' has no value"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 1.5, "text": "b"}\n', r"a\.jsonl:2: .* whole number: 1\.5"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 2, "text": {"en": 1}}\n', r":2: field 'text' is not text, but d"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 2, "txt": "b"}\n', r":2: none of the fields text is there"),
        ("a.csv", "id,text\n1,a\n,b\n", r"a\.csv:3: an _id must not be empty"),
        ("a.csv", "id,text\n1,a\n2,b\n1,c\n", r"a\.csv:4: the _id '1' was used on line 2 already"),
        ("a.json", '[{"id": 1, "text": "a"}, {"id": "1", "text": "b"}]', "item 2: the _id '1' was used on item 1"),
        ("a.csv", b"id,text\n1,caf\xe9\n", r"a\.csv:2 is not UTF-8"),
        ("a.json", b'[{"id": 1,\n"text": "caf\xe9"}]', r"a\.json:2 is not UTF-8"),
        ("a.csv", "\ufeffid,text\n1,a\n".encode("utf-16-le"), r"a\.csv:1 is UTF-16"),
        ("a.csv.gz", b"no gzip", "is not a whole gzip file"),
        ("a.parquet", b"no parquet", r"a\.parquet is not a whole Parquet file"),
        ("a.xlsx", b"PK", r"a\.xlsx: its name does not say what it is .* --format"),
    ],
)  # fmt: skip
def test_typical_mistakes_are_named_with_their_place(tmp_path, name, content, says):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=says) as raised:
        documents_of(tmp_path / name)
    assert "\n" not in str(raised.value)
    assert name in str(raised.value)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt"])
def test_a_line_of_100_mb_is_named_and_not_held(tmp_path, name):
    with (tmp_path / name).open("wb") as file:
        file.write(
            b'{"id": 1, "text": "a"}\n' if name == "a.jsonl" else b"id\ttext\n" if name == "a.tsv" else b"id,text\n"
        )
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    with pytest.raises(InputError, match=rf"{name}:2: the line is longer than 64 MiB"):
        documents_of(tmp_path / name)


def test_a_quote_that_never_closes_ends_before_memory_does(tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.data.readers.tables.LONGEST_LINE", 1000)
    (tmp_path / "a.csv").write_text('id,text\n1,a\n2,"open\n' + "3,more\n" * 1000)
    with pytest.raises(InputError, match=r"a\.csv:3: a row is longer than .* never close"):
        documents_of(tmp_path / "a.csv")
    assert lines.LONGEST_LINE == 64 << 20


def test_wrong_bytes_can_be_replaced(tmp_path, caplog):
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,caf\xe9\n")
    assert documents_of(tmp_path / "a.csv", on_bad_bytes="replace") == [Document("1", "", "caf\ufffd")]
    assert "1 lines are not UTF-8" in caplog.text


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"a\.parquet needs the package 'pyarrow'.*pip install .*\[parquet\]"):
        documents_of(tmp_path / "a.parquet")


def test_two_files_of_one_name(tmp_path):
    for name in ("documents.csv", "documents.jsonl"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"documents\.csv and documents\.jsonl are two files of one name"):
        open_collection(tmp_path)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/a.txt").write_text("x")
    (tmp_path / "texts/a.txt.gz").write_bytes(gzip.compress(b"x"))
    with pytest.raises(InputError, match="two files of one name"):
        open_collection(tmp_path / "texts")


def test_a_folder_of_tables_is_a_whole_collection(tmp_path):
    (tmp_path / "qrels").mkdir()
    csv_file(tmp_path / "documents.csv")
    (tmp_path / "queries.csv").write_text("qid,query\n1,tea\n")
    (tmp_path / "qrels/test.csv").write_text("qid,sku,grade\n1,11,2\n")
    found = open_collection(tmp_path)
    assert list(found.documents()) == DOCUMENTS
    assert list(found.queries()) == [Query("1", "tea")]
    assert found.qrels("test") == [Qrel("1", "11", 2)]


def test_queries_and_judgements_from_elsewhere_with_fields_of_their_own(tmp_path):
    csv_file(tmp_path / "products.csv")
    (tmp_path / "q.json").write_text('[{"nr": 1, "asked": "tea"}]')
    (tmp_path / "j.tsv").write_text("who\twhat\tgood\n1\t11\t3\n")
    fields = "query.id=nr,query.text=asked,judgement.query=who,judgement.document=what,judgement.relevance=good"
    reading = Reading(fields=fields, queries=str(tmp_path / "q.json"), qrels=(f"dev={tmp_path / 'j.tsv'}",))
    found = open_collection(tmp_path / "products.csv", reading)
    assert (list(found.queries()), found.qrels("dev")) == ([Query("1", "tea")], [Qrel("1", "11", 3)])
    (tmp_path / "j.tsv").write_text("who\twhat\tgood\n1\t11\tmuch\n")
    with pytest.raises(InputError, match=r"j\.tsv:2: the relevance 'much' in field 'good' is not a whole number"):
        found.qrels("dev")


def test_a_table_of_judgements_without_grades(tmp_path):
    csv_file(tmp_path / "products.csv")
    (tmp_path / "j.csv").write_text("query_id,doc_id\n1,11\n")
    assert open_collection(tmp_path / "products.csv", Reading(qrels=(str(tmp_path / "j.csv"),))).qrels("test") == [
        Qrel("1", "11", 1)
    ]


def test_other_fields_are_another_collection(tmp_path):
    """Whether they were named or guessed does not matter."""
    csv_file(tmp_path / "products.csv")

    def digest(fields):
        return open_collection(tmp_path / "products.csv", Reading(fields=fields)).digest(CORPUS)

    assert digest("") == digest("id=sku,title=name,text=description") != digest("text=name")


def test_the_types_of_parquet(tmp_path):
    """Whole numbers with gaps are floats there, what is absent may be NaN, and there are dates and decimals."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {
        "id": [1.0, 2.0], "text": ["one", None], "title": [float("nan"), 3.0], "paid": [Decimal("1.50"), None],
        "when": [datetime(2020, 1, 2), None], "weight": [float("nan"), 2.5], "tags": [["a", "b"], None],
    }  # fmt: skip
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    assert documents_of(tmp_path / "a.parquet") == [Document("1", "", "one"), Document("2", "3.0", "")]
    assert list(corpus_metadata(open_collection(tmp_path / "a.parquet"))) == [
        ("1", {"paid": 1.5, "when": "2020-01-02 00:00:00", "tags": ("a", "b")}),
        ("2", {"weight": 2.5}),
    ]
