"""Bulk files: bounded parts, whole rows, the same bytes every time."""

import gzip
import json

from lexigraft.export.engine_files.bulk import Form, Parts, as_json, write_vocabulary

FORM = Form("rows", ".json", b"[", b",", b"]")


def written(folder, rows, most):
    folder.mkdir(exist_ok=True)
    with Parts(folder, FORM, most) as parts:
        for row in rows:
            parts.append(row)
    return parts, [gzip.decompress(part.read_bytes()) for part in sorted(folder.iterdir())]


def test_parts_are_bounded_and_hold_every_row(tmp_path):
    rows = [as_json("x" * size) for size in (1, 30, 5, 5, 200, 5, 40, 40)]
    parts, texts = written(tmp_path, rows, 60)
    assert [one for text in texts for one in json.loads(text)] == [json.loads(row) for row in rows]
    assert all(len(text) <= 60 for text in texts if b"x" * 200 not in text)
    assert (parts.n_parts, parts.n_rows) == (len(texts), len(rows)) == (4, 8)
    assert parts.n_bytes == sum(part.stat().st_size for part in tmp_path.iterdir())
    assert sorted(part.name for part in tmp_path.iterdir())[:2] == ["rows-00000.json.gz", "rows-00001.json.gz"]


def test_no_rows_are_no_parts(tmp_path):
    assert written(tmp_path, [], 60)[1] == []


def test_the_same_rows_are_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        written(tmp_path / name, [b"1"] * 50, 60)
    for part in (tmp_path / "a").iterdir():
        assert part.read_bytes() == (tmp_path / "b" / part.name).read_bytes()


def test_json_is_one_line_of_utf8():
    assert as_json({"a\n": "é😀\ud800"}) == '{"a\\n":"é😀?"}'.encode()


def test_a_vocabulary_comes_back(tmp_path):
    terms = ["a", "", 'b"', "line\nend", "漢\u2028"]
    write_vocabulary(tmp_path, terms)
    lines = (tmp_path / "vocabulary.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line) for line in lines[:-1]] == terms
