"""What is cut into passages is counted as passages, wherever a count is shown; JSON says so beside the number."""

import json

import pytest

from lexigraft.core.types import counted_rows

CUT = ("--set", "data.passage_words=3")
LEXICAL = ("--set", 'run.systems=["bm25"]')


def n_passages(folder):
    texts = [json.loads(line)["text"] for line in (folder / "corpus.jsonl").read_text().splitlines()]
    return sum(-(-len(text.split()) // 3) for text in texts)


def test_in_words():
    assert counted_rows(1) == "1 document"
    assert counted_rows(1234) == "1,234 documents"
    assert counted_rows(1, True) == "1 passage"
    assert counted_rows(0, True) == "0 passages"


@pytest.mark.parametrize("cut", [(), CUT], ids=["documents", "passages"])
def test_an_index(collection, tmp_path, lexigraft, cut):
    said = counted_rows(n_passages(collection), True) if cut else "6 documents"
    call = ("index", "--data", collection, *cut, "--out", tmp_path / "index")
    assert f": {said}, " in lexigraft(*call).stdout
    assert lexigraft(*call, "--json").json["passages"] == bool(cut)
    shown = lexigraft("index", "stats", "--index", tmp_path / "index", "--data", collection, "--limit", 3)
    assert shown.status == 0, shown.stderr
    assert f"over {said}; times" in " ".join(shown.stdout.split())
    asked = tmp_path / "queries.tsv"
    asked.write_text("q1\tremove duplicates\n")
    bench = lexigraft("bench", "search", "--index", tmp_path / "index", "--queries", asked, "--runs", 1)
    assert f": {said}, " in bench.stdout, bench.stderr


@pytest.mark.parametrize("cut", [(), CUT], ids=["documents", "passages"])
def test_a_run_and_its_report(collection, tmp_path, lexigraft, cut):
    said = counted_rows(n_passages(collection), True) if cut else "6 documents"
    run = tmp_path / "run"
    shown = lexigraft("run", "--data", collection, "--out", run, *cut, *LEXICAL)
    assert shown.status == 0, shown.stderr
    assert f"3 test queries over {said}" in shown.stdout
    assert f"3 test queries over {said}" in lexigraft("report", "--run", run).stdout
    page = (run / "report.md").read_text()
    assert f"3 test queries over {said}." in page
    assert f"per {'passage' if cut else 'document'} of the collection" in page
    collection_facts = json.loads((run / "report.json").read_text())["collection"]
    assert collection_facts.get("passages", False) == bool(cut)


@pytest.mark.parametrize("cut", [(), CUT], ids=["documents", "passages"])
def test_a_live_index(collection, tmp_path, lexigraft, cut):
    said = counted_rows(n_passages(collection), True) if cut else "6 documents"
    live = tmp_path / "live"
    assert f": {said} added as" in lexigraft("index", "add", live, "--data", collection, *cut).stdout
    status = lexigraft("index", "status", live).stdout
    assert f"{said}, 0 deleted" in status
    assert ("passages" in status) == bool(cut)
    assert "1 document deleted" in lexigraft("index", "delete", live, "d1").stdout
    assert f" {'passages' if cut else 'documents'}, " in lexigraft("index", "merge", live, "--all").stdout
