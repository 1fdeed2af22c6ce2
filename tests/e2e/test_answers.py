"""Answers with text: from a file to what a search shows, prints for scripts and explains, and what goes wrong."""

import json
import signal
import subprocess
import sys
import time

import pytest

import lexigraft as lg
from lexigraft.core.errors import ArtifactError
from tests.e2e.test_bad_input import one_line_error

FIELDS = ("--fields", "id=sku,title=name,text=description")
LONG = "A kettle of steel. " * 40
PRODUCTS = f"""sku,name,description,price,tags
10,Kettle,"Boils water fast, and removes duplicates of limescale.",19.5,red
11,Teapot,"{LONG}Brews teas for four. {LONG}",30,
12,Mug,,4,blue
"""


@pytest.fixture
def products(tmp_path):
    (tmp_path / "products.csv").write_text(PRODUCTS)
    return tmp_path / "products.csv"


@pytest.fixture
def index(products, tmp_path, lexigraft):
    assert lexigraft("index", "--data", products, *FIELDS, "--out", tmp_path / "index").status == 0
    return tmp_path / "index"


def test_a_search_shows_the_part_that_matched(index, lexigraft):
    """`duplicate` finds `duplicates`: by the index's own stemmer."""
    shown = lexigraft("search", "--index", index, "duplicate tea", "--k", 2)
    assert (shown.status, shown.stderr) == (0, "")
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert "Boils water fast, and removes duplicates of limescale." in lines
    (part,) = [line for line in lines if "Brews teas for four." in line]
    assert part.startswith("… ") and part.endswith(" …") and len(part) < 250
    whole = lexigraft("search", "--index", index, "duplicate tea", "--k", 2, "--text")
    assert f"{LONG}Brews teas for four. {LONG}".strip() in whole.stdout


def test_json_has_all_there_is(index, products, lexigraft):
    lexigraft("index", "metadata", "--index", index, "--data", products, *FIELDS)
    answer = lexigraft("search", "--index", index, "boiling duplicate", "--json").json
    assert answer["query"] == "boiling duplicate"
    assert [(term["term"], term["weight"], term["own"]) for term in answer["terms"]] == [
        ("boil", 1.0, True),
        ("duplic", 1.0, True),
    ]
    (hit,) = answer["hits"]
    assert (hit["rank"], hit["doc_id"], hit["title"], hit["title_spans"]) == (1, "10", "Kettle", [])
    text = "Boils water fast, and removes duplicates of limescale."
    assert hit["text"] == text
    assert hit["snippet"] == {"text": text, "start": 0, "end": len(text), "spans": [[0, 5], [30, 40]]}
    assert [text[start:end] for start, end in hit["snippet"]["spans"]] == ["Boils", "duplicates"]
    assert hit["metadata"] == {"price": 19.5, "tags": "red"}
    assert [match["term"] for match in hit["matches"]] == ["boil", "duplic"]
    for match in hit["matches"]:
        assert match["contribution"] == pytest.approx(match["query_weight"] * match["document_weight"])
    assert sum(match["contribution"] for match in hit["matches"]) == pytest.approx(hit["score"])
    (without,) = lexigraft("search", "--index", index, "boiling duplicate", "--json", "--no-text").json["hits"]
    assert without == {key: value for key, value in hit.items() if key != "text"}


def test_the_same_from_python(index, lexigraft):
    by_command = lexigraft("search", "--index", index, "steel duplicates", "--json").json
    with lg.Retriever.open(index) as retriever:
        answer = retriever.answer("steel duplicates")
        assert json.loads(json.dumps(answer.as_json())) == by_command
        teapot = next(hit for hit in answer.hits if hit.doc_id == "11")
        assert {teapot.text[start:end] for start, end in teapot.text_spans} == {"steel"}
        assert teapot.text[teapot.snippet.start : teapot.snippet.end] == teapot.snippet.text
        mug = retriever.answer("mug").hits[0]
        assert (mug.text, mug.snippet.text, mug.title_spans) == ("", "", ((0, 3),))
        retriever.save(index.parent / "saved")
    with lg.Retriever.open(index.parent / "saved") as saved:
        assert saved.answer("steel").hits[0].text == teapot.text


def test_an_index_without_texts_shows_titles_and_says_how_to_keep_them(products, tmp_path, lexigraft):
    bare = tmp_path / "bare"
    assert lexigraft("index", "--data", products, *FIELDS, "--out", bare, "--texts", "no").status == 0
    assert not list(bare.glob("texts.*"))
    shown = lexigraft("search", "--index", bare, "water")
    assert ("Kettle" in shown.stdout, "Boils" in shown.stdout, shown.stderr) == (True, False, "")
    remedy = f"{bare} keeps no texts; build it again: lexigraft index --data DIR --texts yes --out {bare}\n"
    assert lexigraft("search", "--index", bare, "water", "--text").stderr == remedy
    answer = lexigraft("search", "--index", bare, "water", "--json")
    assert answer.stderr == remedy
    (hit,) = answer.json["hits"]
    assert (hit["title"], hit["text"], hit["snippet"]) == ("Kettle", None, None)
    one_line_error(lexigraft("index", "--data", products, "--out", bare, "--texts", "maybe"), "auto, yes, no")


def test_explanations_need_no_collection(index, products, lexigraft):
    products.unlink()
    explained = lexigraft("explain", "--index", index, "boiling", "10", "--json")
    assert (explained.status, explained.stderr) == (0, "")
    assert explained.json["contributions"][0]["document_from"]["token"] == "Boils"


def test_a_run_keeps_texts_once_for_all_its_indexes(products, tmp_path, lexigraft):
    run = tmp_path / "run"
    options = ("--data", products, *FIELDS, "--out", run, "--set", 'run.systems=["bm25", "bm25-plain"]')
    assert lexigraft("run", *options, "--set", "index.reorder=true").status == 0
    assert len(list(run.rglob("texts.zlib"))) == 1
    for system in ("bm25", "bm25-plain"):
        (hit,) = lexigraft("search", "--run", run, "--system", system, "limescale", "--json").json["hits"]
        assert hit["snippet"]["text"].endswith("limescale.")
    with lg.Retriever.open(run, system="bm25") as retriever:
        retriever.save(tmp_path / "saved")
    with lg.Retriever.open(tmp_path / "saved") as saved:
        assert saved.answer("limescale").hits[0].text.startswith("Boils")
    assert lexigraft("run", *options, "--texts", "no").status == 0
    answer = lexigraft("search", "--run", run, "--system", "bm25", "limescale", "--json")
    assert "continue the run with its command and --texts yes" in answer.stderr
    assert answer.json["hits"][0]["text"] is None


def test_passages_show_what_they_say(tmp_path, lexigraft):
    (tmp_path / "guide.md").write_text(
        "# Guide\n\nWelcome.\n\n## Install\n\nUse pip.\n\n## Remove\n\nDelete the folder.\n"
    )
    index = tmp_path / "index"
    by = ("--set", "data.passage_by=headings")
    assert lexigraft("index", "--data", tmp_path, "--format", "files", *by, "--out", index).status == 0
    (hit,) = lexigraft("search", "--index", index, "deleting folders", "--json").json["hits"]
    assert (hit["doc_id"], hit["passage"]) == ("guide.md", "guide.md#2")
    assert "Delete the folder." in hit["text"] and "pip" not in hit["text"]


def test_an_index_of_vectors_takes_the_texts_of_their_collection(products, tmp_path, lexigraft):
    run, index = tmp_path / "run", tmp_path / "index"
    assert lexigraft("run", "--data", products, *FIELDS, "--out", run, "--set", 'run.systems=["bm25"]').status == 0
    make = ("index", "--vectors", run / "judged/bm25/vectors", "--out", index)
    one_line_error(lexigraft(*make, "--texts", "yes"), "vectors hold no texts", "give --data")
    assert lexigraft(*make, "--data", products, *FIELDS, "--set", "index.reorder=true").status == 0
    assert lexigraft("search", "--index", index, "limescale", "--json").json["hits"][0]["text"].startswith("Boils")
    lines = PRODUCTS.splitlines(keepends=True)
    products.write_text("".join([lines[0], *lines[2:], lines[1]]))
    one_line_error(
        lexigraft(*make, "--data", products, *FIELDS), "document 1", "it has '11', and the vectors have '10'"
    )


def test_a_kill_while_texts_of_vectors_are_read_leaves_nothing_behind(products, tmp_path, lexigraft):
    run, made = tmp_path / "run", tmp_path / "made"
    assert lexigraft("run", "--data", products, *FIELDS, "--out", run, "--set", 'run.systems=["bm25"]').status == 0
    make = ("index", "--vectors", run / "judged/bm25/vectors", "--data", products, *FIELDS, "--out", made / "index")
    killed = (
        "import os, signal; from lexigraft.index.texts import TextWriter; from lexigraft.__main__ import main; "
        "TextWriter.append = lambda *_: os.kill(os.getpid(), signal.SIGKILL); main()"
    )
    assert subprocess.run([sys.executable, "-c", killed, *map(str, make)]).returncode == -signal.SIGKILL
    (draft,) = made.iterdir()  # what the next call knows for a killed one's
    assert draft.name.startswith("index.draft-")
    assert lexigraft(*make).status == 0
    assert sorted(path.name for path in made.iterdir()) == ["index", "index.metadata"]
    assert not list((made / "index").glob(".texts-*"))
    assert len(list((made / "index").glob("texts.*"))) == 4


def test_a_damaged_file_of_texts_is_named(index, tmp_path, lexigraft):
    blob = bytearray((index / "texts.zlib").read_bytes())
    blob[len(blob) // 2] ^= 1
    (index / "texts.zlib").write_bytes(blob)
    one_line_error(
        lexigraft("search", "--index", index, "water"), f"{index / 'texts.zlib'} does not match its checksum"
    )
    (index / "texts.zlib").write_bytes(blob[:-1])
    one_line_error(lexigraft("search", "--index", index, "water"), f"{index / 'texts.zlib'} has {len(blob) - 1} bytes")


def test_damage_that_nobody_looked_for_is_named_where_it_is_met(index):
    from lexigraft.index.store import open_index

    (index / "texts.zlib").write_bytes(bytes((index / "texts.zlib").stat().st_size))
    opened = open_index(index, checksums=False)
    with pytest.raises(ArtifactError, match=r"texts\.zlib is damaged .* build the index again"):
        opened.texts.get(0)


def test_what_a_terminal_would_obey_is_not_printed(tmp_path, lexigraft):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": "red \u001b[31m fox\u0007 jumps"}) + "\n")
    assert lexigraft("index", "--data", tmp_path / "a.jsonl", "--out", tmp_path / "i").status == 0
    for options in ((), ("--text",)):
        shown = lexigraft("search", "--index", tmp_path / "i", "fox", *options).stdout
        assert "\x1b" not in shown and "\x07" not in shown and "fox jumps" in shown


def test_live_indexes_keep_texts_through_changes(products, tmp_path, lexigraft):
    live = tmp_path / "live"
    assert lexigraft("index", "add", live, "--data", products, *FIELDS).status == 0
    (tmp_path / "more.csv").write_text("sku,name,description\n10,Kettle,Whistles loudly.\n13,Tray,Carries cups.\n")
    add = ("index", "add", live, "--data", tmp_path / "more.csv", *FIELDS, "--replace")
    assert lexigraft(*add, "--texts", "no").status == 0
    texts = {
        hit["doc_id"]: hit["text"]
        for hit in lexigraft("search", "--index", live, "kettle tray tea", "--json").json["hits"]
    }
    assert (texts["10"], texts["13"]) == (None, None) and "Brews" in texts["11"]
    assert lexigraft("index", "merge", live, "--all").status == 0
    merged = lexigraft("search", "--index", live, "kettle tray tea", "--json").json["hits"]
    assert {hit["doc_id"]: hit["text"] for hit in merged} == texts
    assert lexigraft(*add).status == 0
    (hit,) = lexigraft("search", "--index", live, "whistle", "--json").json["hits"]
    assert hit["text"] == "Whistles loudly."


def test_a_live_index_says_which_texts_it_does_not_keep(products, tmp_path, lexigraft, monkeypatch):
    live = tmp_path / "live"
    add = ("index", "add", live, "--data", products, *FIELDS, "--replace")
    assert "texts" not in lexigraft(*add).stderr
    monkeypatch.setattr("lexigraft.core.settings.index.AUTO_TEXTS_MIB", 1000 / 2**20)
    added = lexigraft(*add)
    assert added.status == 0
    assert f"{live} does not keep the texts of the documents that were added now" in added.stderr
    answer = lexigraft("search", "--index", live, "steel", "--json")
    assert f"{live} keeps no texts; add the documents again" in answer.stderr
    assert answer.json["hits"][0]["text"] is None
    assert "texts" not in lexigraft(*add, "--texts", "yes").stderr
    assert "steel" in lexigraft("search", "--index", live, "steel", "--json").json["hits"][0]["text"]


@pytest.mark.parametrize("before", [False, True])
def test_a_kill_while_texts_are_written_leaves_the_old_index_or_none(before, tmp_path, lexigraft):
    """SIGKILL at the first sign of the texts on the disk; the next call builds as if nothing had happened."""
    source, index = tmp_path / "many.jsonl", tmp_path / "index"
    if before:
        source.write_text('{"id": "0", "text": "old fox"}\n')
        assert lexigraft("index", "--data", source, "--out", index).status == 0
    lines = (json.dumps({"id": str(number), "text": f"fox number {number} " * 40}) for number in range(20_000))
    source.write_text("\n".join(lines))
    command = [sys.executable, "-m", "lexigraft", "index", "--data", str(source), "--out", str(index)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    written = tmp_path / ".index.building/texts.zlib"
    while process.poll() is None and not (written.is_file() and written.stat().st_size):
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    if before:
        assert lexigraft("search", "--index", index, "fox", "--json").json["hits"][0]["text"] == "old fox"
    else:
        assert not index.exists()
    assert lexigraft("index", "--data", source, "--out", index).status == 0
    assert (
        lexigraft("search", "--index", index, "19999", "--json").json["hits"][0]["text"].startswith("fox number 19999")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "many.jsonl"]
