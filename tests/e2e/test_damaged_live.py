"""Changes of a live index whose files are damaged: one line that names the file, and nothing is changed or lost."""

import json
import shutil

import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from tests.e2e.test_bad_input import one_line_error

FIRST = [Document(f"d{n}", f"Title {n}", f"word{n} shared other{n % 3}") for n in range(8)]
LATER = [Document("d8", "Eight", "shared new words"), Document("d9", "", "other1 word1")]
SEARCH = ("search", "shared word1", "--json", "--index")
DAMAGES = {
    "bit": lambda found: found[: len(found) // 2] + bytes([found[len(found) // 2] ^ 1]) + found[len(found) // 2 + 1 :],
    "cut": lambda found: found[: len(found) // 2],
    "empty": lambda found: b"",
    "zeros": lambda found: bytes(len(found)),
}


@pytest.fixture
def live(tmp_path, lexigraft, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, documents in (("first", FIRST), ("later", LATER)):
        write_collection(tmp_path / name, documents)
        corpus = tmp_path / name / "corpus.jsonl"
        lines = [json.loads(line) for line in corpus.read_text().splitlines()]
        known = [{"year": n, "tags": ["a", f"t{n}"], "day": f"2024-01-{n + 10}"} for n in range(len(lines))]
        records = ({**line, "metadata": one} for line, one in zip(lines, known, strict=True))
        corpus.write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "more.tsv").write_text("_id\tyear\tkind\nd1\t2001\tk\n")
    assert lexigraft("index", "add", "live", "--data", "first", "--texts", "yes").status == 0
    assert lexigraft("index", "delete", "live", "d3").status == 0
    return tmp_path / "live"


def named_files(live):
    files = sorted(
        path.relative_to(live).as_posix() for path in live.rglob("*") if path.is_file() and path.name != ".lock"
    )
    assert len(files) > 30
    assert sum(name.startswith("metadata/") for name in files) > 10
    return files


@pytest.mark.parametrize(
    "change",
    [
        ("index", "add", "live", "--data", "later"),
        ("index", "add", "live", "--data", "later", "--replace"),
        ("index", "delete", "live", "d1"),
        ("index", "merge", "live", "--all"),
        ("index", "metadata", "--index", "live", "--file", "more.tsv"),
    ],
    ids=lambda change: " ".join(change[1:2] + change[5:]),
)
def test_no_change_is_made_of_damaged_files(change, live, tmp_path, lexigraft):
    """Every file in turn, each damaged in another way."""
    right = lexigraft(*SEARCH, "live").json
    for number, name in enumerate(named_files(live)):
        damage = list(DAMAGES)[number % len(DAMAGES)]
        before = (live / name).read_bytes()
        state = (live / "live.json").read_bytes()
        damaged = DAMAGES[damage](before)
        if damaged == before:
            continue  # an empty file cannot be emptied
        (live / name).write_bytes(damaged)
        said = lexigraft(*change)
        one_line_error(said, name.rpartition("/")[2])
        assert (live / "live.json").read_bytes() == (damaged if name == "live.json" else state), (name, damage)
        (live / name).write_bytes(before)
        assert lexigraft(*SEARCH, "live").json == right, (name, damage)
    assert lexigraft(*change).status == 0


def test_a_live_index_of_a_damaged_one_is_not_begun(tmp_path, lexigraft, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path / "first", FIRST)
    assert lexigraft("index", "--data", "first", "--out", "plain", "--texts", "yes").status == 0
    for number, file in enumerate(sorted(path for path in (tmp_path / "plain").iterdir() if path.stat().st_size)):
        before = file.read_bytes()
        file.write_bytes(DAMAGES[list(DAMAGES)[number % len(DAMAGES)]](before))
        one_line_error(lexigraft("index", "live", "plain", "--out", "live"), file.name)
        assert not (tmp_path / "live").exists()
        file.write_bytes(before)


def test_metadata_of_damaged_ones_are_not_made_of_them(tmp_path, lexigraft, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_collection(tmp_path / "first", FIRST)
    (tmp_path / "more.tsv").write_text("_id\tyear\tkind\n" + "".join(f"d{n}\t{2000 + n}\tk{n % 2}\n" for n in range(8)))
    assert lexigraft("index", "--data", "first", "--out", "plain").status == 0
    make = ("index", "metadata", "--index", "plain", "--file", "more.tsv")
    assert lexigraft(*make).status == 0
    beside = tmp_path / "plain.metadata"
    whole = shutil.copytree(beside, tmp_path / "kept")
    for number, file in enumerate(sorted(path for path in beside.iterdir() if path.stat().st_size)):
        before = file.read_bytes()
        file.write_bytes(DAMAGES[list(DAMAGES)[number % len(DAMAGES)]](before))
        one_line_error(lexigraft(*make), file.name)
        file.write_bytes(before)
    assert {path.name: path.read_bytes() for path in beside.iterdir()} == {
        path.name: path.read_bytes() for path in whole.iterdir()
    }
