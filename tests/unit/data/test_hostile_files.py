"""Files that were made to take all time or all memory: each is read in linear time, or is a line that names it.

The sizes are such that what was quadratic, or read without a bound, fails here in seconds; `tests/fuzz` has more.
"""

import gzip
import json
import os
from pathlib import Path

import pytest

from lexigraft.core import bounds
from lexigraft.core.bounds import LARGEST_WHOLE, MOST_FIELDS
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.types import Document
from lexigraft.data.collection import CORPUS, open_collection
from lexigraft.data.passages import BY_HEADINGS, cut_passages
from lexigraft.data.readers.front_matter import split_front_matter
from lexigraft.data.readers.html_text import html_text, unescaped
from lexigraft.data.readers.json_files import json_array_records
from lexigraft.data.readers.pages import page_records
from lexigraft.data.readers.tables import csv_records, separator_of
from lexigraft.data.readers.topics import read_queries
from tests.bounded import within_cpu_seconds

SIZE = 300_000


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<!--", "<![CDATA[", "</", "</a ", "<?", "<!", '<a href="', "<a b='", "&", "<", "<a =", "<a b=c ",
     "<svg></b>", "<title>a</title><title>", "<script>", "<textarea><", "&#1", "<!-->", "<style></style"],
)  # fmt: skip
def test_a_page_of_tags_that_never_close_takes_linear_time(piece):
    with within_cpu_seconds(5):
        html_text(piece * (SIZE // len(piece)))


def test_what_opens_and_never_closes_is_text():
    assert html_text("<p>tea <a href='x' it ends") == ("", "tea <a href='x' it ends")
    assert html_text("tea <!-- and milk") == ("", "tea <!-- and milk")
    assert html_text("if a <b and c") == ("", "if a <b and c")
    assert html_text('<p title="a > b">tea</p><i a=x/>milk') == ("", "tea\nmilk")


def test_the_number_of_a_character_may_have_any_digits():
    digits = "9" * 5000
    assert unescaped(f"a&#{digits};b&#0000000000000000000000065;c&#0;d&#;e&#x41;") == "a\ufffdbAc\ufffdd&#;eA"
    assert html_text(f"<p>tea &#{digits}") == ("", "tea \ufffd")


@pytest.mark.parametrize(
    ("front", "why"),
    [
        ("a: " + "[" * 400 + "]" * 400, "it is nested more than 32 deep"),
        ("a: " + "[" * 60_000, "it is nested more than 32 deep"),
        ("\n".join(" " * depth + "a:" for depth in range(300)), "it is nested more than 32 deep"),
        ("tags:\n" + "- a\n" * 400_000, "it has more than 65,536 characters"),
        ('a: "\\U99999999"', "too large"),
    ],
)
def test_a_front_matter_beyond_measure_is_text(front, why, caplog):
    text = f"---\n{front}\n---\ntea\n"
    with within_cpu_seconds(5):
        assert split_front_matter(text, "page.md") == ({}, text)
    (message,) = caplog.messages
    assert message.startswith("page.md: the front matter is not YAML and is read as text: ") and why in message


def test_a_title_of_many_hashes_takes_linear_time(tmp_path):
    (tmp_path / "page.md").write_text("# " + " #" * 50_000 + "x" + " #" * 50_000 + "y ##\n")
    with within_cpu_seconds(5):
        (record,) = page_records(tmp_path / "page.md")
    assert record.values["title"].endswith("# #y")


@pytest.mark.parametrize("name", ["page.md", "page.txt", "page.html"])
def test_a_page_is_no_hole(name, tmp_path):
    (tmp_path / name).touch()
    os.truncate(tmp_path / name, LARGEST_WHOLE + 1)
    with pytest.raises(InputError, match=rf"{name} is longer than 64 MiB"):
        list(page_records(tmp_path / name))


@pytest.mark.parametrize("name", ["a.json.gz", "a.jsonl.gz", "a.csv.gz", "a.md.gz"])
def test_a_few_bytes_of_gzip_are_no_gigabytes(name, tmp_path):
    """Whether they are one line or very many: none of them is wrong."""
    for content in (b"\n" * (20 << 20), b" " * (20 << 20)):
        (tmp_path / name).write_bytes(gzip.compress(content, 1) + b"\x1f\x8b and what comes after it, however long")
        with pytest.raises(InputError, match=rf"{name} unpacks to more than 200 times its size"):
            list(open_collection(tmp_path / name).documents())


def test_an_array_is_streamed(tmp_path):
    """The first objects are given before the last are read."""
    objects = ",\n".join(json.dumps({"id": str(number), "text": "tea" * 100}) for number in range(3000))
    for before, after in (("[", "]"), ('{"n": 17, "of": {"a": [1]}, "data": [', '], "end": null}')):
        (tmp_path / "a.json").write_text(f"{before}{objects}, oops{after}")
        records = json_array_records(tmp_path / "a.json")
        assert [next(records).values["id"] for _ in range(2000)] == [str(number) for number in range(2000)]
        with pytest.raises(InputError, match=r"a\.json:3000: not valid JSON: Expecting value \(column \d+\)"):
            list(records)
        (tmp_path / "a.json").write_text(f"{before}{objects}{after}")
        assert len(list(json_array_records(tmp_path / "a.json"))) == 3000


def test_an_array_may_be_larger_than_what_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.data.readers.json_text.LARGEST_WHOLE", 100_000)
    one = json.dumps({"id": "1", "text": "tea" * 9000})
    (tmp_path / "a.json").write_text(f"[{', '.join([one] * 40)}]")
    assert len(list(json_array_records(tmp_path / "a.json"))) == 40
    (tmp_path / "a.json").write_text(json.dumps([{"id": "1", "text": "tea" * 900_000}]))
    with pytest.raises(InputError, match=r"a\.json:1: not valid JSON: Unterminated string .* the most that one value"):
        list(json_array_records(tmp_path / "a.json"))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '[{"a": ' + "[" * 100_000, '{"a": [{"b": ' + "9" * 5000 + "}]}", '{"a":1,"a":[{}]}', "[{}", "[{},]",
     "[{}] tea", "[{} {}]", '{"a" [{}]}', "{1: [{}]}", '"', "tea", "nul", "[{}", '{"a":[{}],"b":[{}]}', "{}", "17"],
)  # fmt: skip
def test_what_is_no_array_is_named(text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a\.json"):
        list(json_array_records(tmp_path / "a.json"))


def test_a_record_has_few_fields(tmp_path):
    names = [f"k{number}" for number in range(300_000)]
    wide = json.dumps({"id": "1", "text": "tea", **dict.fromkeys(names[:MOST_FIELDS], 1)})
    files = {
        "a.jsonl": wide + "\n",
        "corpus.jsonl": wide.replace('"id"', '"_id"') + "\n",
        "a.json": f"[{wide}]",
        "a.csv": ",".join(["id", "text", *names]) + "\n",
        "a.tsv": "\t".join(["id", "text", *names]) + "\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        with (
            within_cpu_seconds(5),
            pytest.raises(InputError, match=rf"{name}.*fields, and a record has at most 10,000"),
        ):
            list(open_collection(tmp_path / name).documents())


def test_millions_of_objects_are_no_record(tmp_path, monkeypatch):
    """Each takes 24 times its bytes."""
    monkeypatch.setattr("lexigraft.data.readers.lines.BUFFER", 1 << 12)
    monkeypatch.setattr("lexigraft.data.readers.json_text.MOST_NESTED", 1000)
    record = '{"id": "1", "text": "tea", "x": [' + "{}," * 20_000 + "{}]}"
    for name, content in (("a.jsonl", record + "\n"), ("a.json", f"[{record}]")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=rf"{name}:1: .*more than 1,000 lists and objects in one value"):
            list(open_collection(tmp_path / name).documents())
    (tmp_path / "a.json").write_text("[" + ",\n".join(f'{{"id": "{n}", "text": "tea"}}' for n in range(20_000)) + "]")
    assert len(list(open_collection(tmp_path / "a.json").documents())) == 20_000


def test_a_key_that_comes_twice_among_many_is_found_in_linear_time(tmp_path):
    names = [f"k{number}" for number in range(100_000)]
    (tmp_path / "a.jsonl").write_text("{" + ",".join(f'"{name}":1' for name in [*names, names[-1]]) + "}\n")
    with within_cpu_seconds(5), pytest.raises(InputError, match=r"a\.jsonl:1: an object has the key 'k99999' twice"):
        list(open_collection(tmp_path / "a.jsonl").documents())


def test_a_row_in_quotes_ends_before_memory_does(tmp_path, monkeypatch):
    """Each field is short, and so is each line."""
    monkeypatch.setattr("lexigraft.data.readers.tables.LONGEST_LINE", 10_000)
    (tmp_path / "a.csv").write_text('id,text\n1,a\n2,"' + '\n","' * 5000)
    with pytest.raises(InputError, match=r"a\.csv:3: a row is longer than .* never close"):
        list(csv_records(tmp_path / "a.csv"))


def test_quotes_in_a_header_hide_separators():
    assert (
        separator_of('a;"b,c,""d,e";f') == ";"
        and separator_of('a,"b;;;') == ";"
        and separator_of('"a;;"",""",b') == ","
    )


def test_what_passages_repeat_is_short():
    """Or a page of a megabyte of heading and title, and a hundred thousand sections, is a hundred gigabytes."""
    page = "# Tea\n" + "## " + "x" * 5000 + "\n" + "### a\nb\n" * 100
    passages = list(cut_passages([Document("1", "t" * 5000, page)], 0, 0, BY_HEADINGS))
    assert passages[-1] == ("1#100", "t" * 1000, "# Tea\n### a\nb") and "x" * 5000 in passages[0].text
    assert passages[0].title == "t" * 5000  # once, so that nothing of it is lost


def test_topics_that_never_close_take_linear_time(tmp_path):
    (tmp_path / "topics.txt").write_text("<top>\n" + "<top>" * 60_000)
    with within_cpu_seconds(5), pytest.raises(InputError, match=r"topics\.txt"):
        list(read_queries(tmp_path / "topics.txt"))
    (tmp_path / "topics.txt").write_text(f"<TOP>\n<num> Number: 7\n<title> tea &#{'1' * 5000};\n</TOP>\n<top>\n")
    assert [query for _, query in read_queries(tmp_path / "topics.txt")] == [("7", "tea \ufffd")]


def test_a_folder_of_pages_is_not_waited_for(tmp_path):
    """Nor is what has no end, or is a hole, read to be hashed."""
    (tmp_path / "a.md").write_text("tea")
    (tmp_path / "b.md").symlink_to("/dev/zero")
    with within_cpu_seconds(5), pytest.raises(OSError, match=r"not a plain file.*b\.md"):
        open_collection(tmp_path).digest(CORPUS)
    (tmp_path / "b.md").unlink()
    (tmp_path / "b.md").touch()
    os.truncate(tmp_path / "b.md", 1 << 40)
    with within_cpu_seconds(5), pytest.raises(ArtifactError, match=r"b\.md is larger than 64 MiB"):
        open_collection(tmp_path).digest(CORPUS)
    (tmp_path / "b.md").unlink()
    (tmp_path / "a.csv").write_text("id,text\n")
    os.truncate(tmp_path / "a.csv", 1 << 40)
    with within_cpu_seconds(5), pytest.raises(InputError, match=r"a\.csv:2: the line is longer than 64 MiB"):
        open_collection(tmp_path / "a.csv").digest(CORPUS)


def test_the_bounds_are_those_of_the_documents():
    table = (Path(__file__).parents[3] / "docs/howto/own_files.md").read_text().partition("## Bounds")[2]
    counts = (
        bounds.MOST_NESTED,
        bounds.MOST_FIELDS,
        bounds.MOST_KEYS,
        bounds.LONGEST_FRONT_MATTER,
        bounds.LONGEST_HEADING,
    )
    sizes = (bounds.LARGEST_WHOLE, bounds.FEW_UNPACKED)
    named = [f"{bounds.MOST_UNPACKED} times", f"{bounds.DEEPEST_FRONT_MATTER} levels"]
    named += [*(f"{size >> 20} MiB" for size in sizes), *(f"{count:,}" for count in counts)]
    assert all(bound in table for bound in named)
