"""Reading click logs: what is added up, what is dropped and counted, what is an error."""

import gzip
import hashlib
import re
import sys
import tracemalloc
import unicodedata

import pyarrow
import pytest
from pyarrow import parquet

from lexigraft.core.errors import InputError, MissingExtraError, SettingError
from lexigraft.core.installing import install_extra
from lexigraft.data.clicks.log import filter_pairs, labelled_pairs, read_click_log
from lexigraft.data.clicks.settings import ClickFilter, Columns, Correction, EvalSettings, SetSizes, Simulation
from lexigraft.data.clicks.text import normal_text

HEADER = "query\ttitle\tposition\tclicks\n"
FULL = Columns(doc_id="url", impressions="shown")


def write(path, *lines, header=HEADER):
    path.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(path, columns=Columns(), max_position=10):  # noqa: B008
    return read_click_log([path], columns, max_position)


def cells(log):
    """{(query, document, position): (clicks, impressions)}"""
    return {
        (log.queries[log.pair_query[p]], log.doc_ids[log.pair_document[p]], int(position)): (int(c), int(n))
        for p, position, c, n in zip(
            log.cell_pair, log.cell_position, log.cell_clicks, log.cell_impressions, strict=True
        )
    }


def title_id(title):
    return "d" + hashlib.sha256(title.encode()).hexdigest()[:16]


def test_lines_of_one_pair_are_added_up(tmp_path):
    log = read(write(tmp_path / "log", "a b\tT\t1\t2", "a  b \tT\t1\t3", "a b\tT\t2\t1", "a b\tU\t1\t0"))
    assert cells(log) == {
        ("a b", title_id("T"), 1): (5, 0), ("a b", title_id("T"), 2): (1, 0), ("a b", title_id("U"), 1): (0, 0),
    }  # fmt: skip
    assert (log.lines, log.n_pairs, log.dropped) == (4, 2, {})
    assert sorted(log.pair_clicks.tolist()) == [0, 6]


def test_one_text_is_one_query_whatever_its_spelling(tmp_path):
    decomposed = unicodedata.normalize("NFD", "café 한국")
    log = read(write(tmp_path / "log", "café 한국\tT\t1\t2", f"{decomposed}\tT\t1\t3", "\x07café \u00a0 한국\tT\t1\t1"))
    assert log.queries == ["café 한국"]
    assert log.pair_clicks.tolist() == [6]
    pairs = labelled_pairs(log, filter_pairs(log, ClickFilter(min_documents=1)).pairs, log.pair_clicks)
    assert [(pair.query_id, pair.label) for pair in pairs] == [
        ("q" + hashlib.sha256("café 한국".encode()).hexdigest()[:16], 6)
    ]


@pytest.mark.parametrize("text", ["", "  ", "\x00\x01", "\u200b\u200e", "\u00a0 \ufeff", "\x7f\x85"])
def test_texts_without_anything_visible(text):
    assert normal_text(text) == ""


def test_what_is_dropped_is_counted(tmp_path):
    lines = (
        "\tT\tu\t1\t1\t1", " \x01\tT\tu\t1\t1\t1", "q\t\tu\t1\t1\t1", "q\tT\t \t1\t1\t1", "", "q\tT\tu\t11\t5\t9",
        "q\tT\tu\t1\t0\t0", "q\tT\tu\t10\t1\t1",
    )  # fmt: skip
    log = read(write(tmp_path / "log", *lines, header="query\ttitle\turl\tposition\tclicks\tshown\n"), FULL)
    assert log.dropped == {
        "blank line": 1, "empty document id": 1, "empty query": 2, "empty title": 1, "shown 0 times": 1,
        "shown below position 10": 1,
    }  # fmt: skip
    assert (log.lines, cells(log)) == (8, {("q", "u", 10): (1, 1)})


def test_the_id_column_is_the_identity_and_titles_are_settled(tmp_path, caplog):
    lines = ("q\tB\tu\t1\t1\t1", "q\tA\tu\t1\t1\t1", "q\tB\tu\t2\t1\t1", "q\tA\tv\t1\t1\t1")
    header = "query\ttitle\turl\tposition\tclicks\tshown\n"
    for order in (lines, lines[::-1]):
        log = read(write(tmp_path / "log", *order, header=header), FULL)
        assert (log.doc_ids, log.titles, log.several_titles) == (["u", "v"], ["A", "A"], 1)
    assert "1 documents came with several titles" in caplog.text


def test_columns_are_found_by_name(tmp_path):
    log = read(
        write(tmp_path / "log", "x\t3\t2\tT\tq", header="other\tn\trank\thead line\ttext\n"),
        Columns("text", "head line", "n", "rank"),
    )
    assert cells(log) == {("q", title_id("T"), 2): (3, 0)}


def test_gzip_crlf_and_byte_order_marks(tmp_path):
    text = "\ufeff" + HEADER.replace("\n", "\r\n") + "q\tT\t1\t2\r\n"
    (tmp_path / "log.gz").write_bytes(gzip.compress(text.encode()))
    assert cells(read(tmp_path / "log.gz")) == {("q", title_id("T"), 1): (2, 0)}
    (tmp_path / "log.gz").write_bytes(gzip.compress((text + "q\tT\t1\t2\n" * 100).encode())[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        read(tmp_path / "log.gz")


def test_a_line_of_megabytes(tmp_path):
    long = "word " * 500_000
    log = read(write(tmp_path / "log", f"q\t{long}\t1\t2"))
    assert log.titles == [long.strip()]


def test_parquet_gives_what_tsv_gives(tmp_path):
    columns = {
        "query": ["q", "q", None, "z\tz\n"], "title": ["T", "U", "T", "T"], "position": [1, 2, 1, 3],
        "clicks": [2.0, 1.0, 0.0, 4.0], "url": [7, 8, 9, 7], "shown": [5, 5, 5, 5],
    }  # fmt: skip
    parquet.write_table(pyarrow.table(columns), tmp_path / "log.parquet")
    log = read(tmp_path / "log.parquet", FULL)
    assert cells(log) == {("q", "7", 1): (2, 5), ("q", "8", 2): (1, 5), ("z z", "7", 3): (4, 5)}
    assert log.dropped == {"empty query": 1}


def test_parquet_errors(tmp_path, monkeypatch):
    good = {"query": ["q", "q"], "title": ["T", "U"], "position": [1, 1], "clicks": [1, 1]}
    for change, message in [
        ({"clicks": [1, -1]}, r"log:2: clicks = -1 is not allowed"),
        ({"clicks": [1, None]}, r"log:2: clicks = None"),
        ({"query": [1, 2]}, r"log:1: the column 'query' holds int, not text"),
        ({"position": [True, False]}, r"log:1: position = True"),
        ({"title": pyarrow.array([b"T", b"\xff"]).cast(pyarrow.string(), safe=False)}, r"not UTF-8"),
    ]:
        parquet.write_table(pyarrow.table({**good, **change}), tmp_path / "log")
        with pytest.raises(InputError, match=message):
            read(tmp_path / "log")
    with pytest.raises(InputError, match=r"has no column 'rank'; present: query, title, position, clicks"):
        read(tmp_path / "log", Columns(position="rank"))
    (tmp_path / "log").write_bytes((tmp_path / "log").read_bytes()[:-30])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        read(tmp_path / "log")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=re.escape(install_extra("clicks"))):
        read(tmp_path / "log")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q\tT\t1", r"log:3: 3 fields between tabs, but the header names 4"),
        ("q\tT\t1\t1\t1", r"log:3: 5 fields"),
        ("q\tT\t1\tmany", r"log:3: clicks = 'many' is not allowed: a whole number from 0"),
        ("q\tT\t1\t-1", r"log:3: clicks = '-1'"),
        ("q\tT\t1\t1.5", r"log:3: clicks = '1.5'"),
        ("q\tT\t1\tnan", r"log:3: clicks = 'nan'"),
        ("q\tT\t1\tinf", r"log:3: clicks = 'inf'"),
        ("q\tT\t1\t1_0", r"log:3: clicks = '1_0'"),
        ("q\tT\t1\t" + "9" * 5000, r"log:3: clicks = '9+\.\.\. is not allowed"),
        ("q\tT\t0\t1", r"log:3: position = '0' is not allowed: a whole number from 1"),
        ("q\tT\t\t1", r"log:3: position = ''"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "log", "q\tT\t1.0\t3.0", line))


def test_bad_files(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(HEADER.encode() + b"q\t\xff\t1\t1\n")
    with pytest.raises(InputError, match="log:2 is not UTF-8"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        read(path)
    with pytest.raises(InputError, match="has no column 'clicks'; present: query, title, position, n"):
        read(write(path, header="query\ttitle\tposition\tn\n"))
    with pytest.raises(InputError, match="several columns named 'title'"):
        read(write(path, header="query\ttitle\ttitle\tposition\tclicks\n"))
    with pytest.raises(InputError, match="5 clicks on what was shown 0 times"):
        read(write(path, "q\tT\tu\t1\t5\t0", header="query\ttitle\turl\tposition\tclicks\tshown\n"), FULL)
    assert read(write(path)).n_pairs == 0  # a header alone is a log without pairs


def test_the_filter(tmp_path):
    lines = (
        "kept\tA\t1\t1", "kept\tA\t2\t1", "kept\tB\t1\t2", "kept\tonce\t1\t1",
        "alone\tA\t1\t9", "alone\tB\t1\t1", "deep\tA\t1\t2", "deep\tB\t11\t2",
    )  # fmt: skip
    log = read(write(tmp_path / "log", *lines))
    kept = filter_pairs(log, ClickFilter())
    found = labelled_pairs(log, kept.pairs, log.pair_clicks)
    assert sorted((pair.query, pair.title, pair.label) for pair in found) == [("kept", "A", 2), ("kept", "B", 2)]
    assert kept.dropped == {"fewer than 2 clicks": 2, "query with fewer than 2 such documents": 2}


@pytest.mark.parametrize(
    "make",
    [
        lambda: ClickFilter(max_position=0),
        lambda: ClickFilter(max_position=1001),
        lambda: ClickFilter(min_clicks=0),
        lambda: Correction("magic"),
        lambda: Correction(eta=-1),
        lambda: Correction(max_weight=0.5),
        lambda: Correction(max_weight=float("nan")),
        lambda: Correction(eta=float("nan")),
        lambda: SetSizes(test_queries=0),
        lambda: SetSizes(valid_distractors=-1),
        lambda: EvalSettings(threshold=1.0),
        lambda: EvalSettings(queries=2),
        lambda: Simulation(lines=0),
        lambda: Columns(query="x", title="x"),
    ],
)
def test_settings_out_of_range(make):
    with pytest.raises(SettingError, match="is not allowed"):
        make()


def test_memory_grows_with_pairs_and_not_with_lines(tmp_path):
    lines = "".join(f"query {n % 50}\ttitle {n % 7}\t{n % 10 + 1}\t1\n" for n in range(3500))
    peaks = []
    for repeats in (1, 10):
        (tmp_path / "log").write_text(HEADER + lines * repeats)
        tracemalloc.start()
        log = read(tmp_path / "log")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (log.n_pairs, log.lines, int(log.cell_clicks.sum())) == (350, 3500 * repeats, 3500 * repeats)
    assert peaks[1] < peaks[0] + 50_000
