"""Users' own files through the commands: looked at, indexed, searched, added to, run and measured."""

import io
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from lexigraft.data.readers.standard_input import standard_input
from tests.e2e.test_bad_input import one_line_error
from tests.guessing import needs_cld2
from tests.unit.data.test_own_files import FORMATS, csv_file, jsonl_file, parquet_file

LEXICAL = ("--set", 'run.systems=["bm25"]')
FIELDS = "id=sku,title=name,text=description"


@pytest.fixture
def piped(monkeypatch):
    """`piped(text)`: what the next command finds on standard input."""

    def pipe(text):
        standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    yield pipe
    standard_input.cache_clear()


@pytest.mark.parametrize(("name", "write"), [("p.csv", csv_file), ("p.jsonl", jsonl_file), ("p.parquet", parquet_file)])
def test_an_index_of_a_file_is_searched_filtered_and_explained(tmp_path, lexigraft, name, write):
    file, index = tmp_path / name, tmp_path / "index"
    write(file)
    made = lexigraft("index", "--data", file, "--fields", FIELDS, "--out", index, "--json").json
    assert made["metadata"] == ["price"]
    (hit,) = lexigraft("search", "--index", index, "tea", "--json").json["hits"]
    assert (hit["doc_id"], hit["title"]) == ("11", "Teapot")
    search = ("search", "--index", index, "tea kettle", "--json", "--where")
    assert [hit["doc_id"] for hit in lexigraft(*search, "price>=20").json["hits"]] == ["11"]
    assert [hit["doc_id"] for hit in lexigraft(*search, "price<=20").json["hits"]] == ["10"]
    explained = lexigraft("explain", "--index", index, "--data", file, "tea", "11", "--json")
    assert explained.json["doc_id"] == "11"


def test_the_other_fields_of_a_file_are_kept_until_they_change(tmp_path, lexigraft):
    file, index = tmp_path / "p.csv", ("--out", tmp_path / "index")
    build = ("index", "--data", file, *index, "--json")
    cheap = ("search", "--index", tmp_path / "index", "tea", "--where", "price<=20", "--json")
    file.write_text("id,text,price\n1,green tea,10\n2,black tea,30\n")
    assert lexigraft(*build).json["metadata"] == ["price"]
    assert [hit["doc_id"] for hit in lexigraft(*cheap).json["hits"]] == ["1"]
    file.write_text("id,text,price\n1,green tea,25\n2,black tea,15\n")
    assert lexigraft(*build).json["metadata"] == ["price"]
    assert [hit["doc_id"] for hit in lexigraft(*cheap).json["hits"]] == ["2"]


def test_metadata_of_a_file_of_their_own_outlast_a_new_index(tmp_path, lexigraft):
    file, index = tmp_path / "p.csv", tmp_path / "index"
    file.write_text("id,text,price\n1,green tea,10\n2,black tea,30\n")
    assert lexigraft("index", "--data", file, "--out", index).status == 0
    (tmp_path / "own.tsv").write_text("_id\tprice\n1\t99\n")
    assert lexigraft("index", "metadata", "--index", index, "--file", tmp_path / "own.tsv").status == 0
    assert lexigraft("index", "--data", file, "--out", index, "--json").json["metadata"] == ["price"]
    (hit,) = lexigraft("search", "--index", index, "tea", "--where", "price=99", "--json").json["hits"]
    assert hit["doc_id"] == "1"


def test_a_look_says_which_texts_are_dates(tmp_path, lexigraft):
    (tmp_path / "p.csv").write_text("id,text,added,made\n1,tea,2024-03-01,1-2-3\n2,pot,2024-03-02T10:00,today\n")
    found = lexigraft("data", "look", tmp_path / "p.csv", "--json").json
    assert found["fields"]["added"]["types"] == {"date": 2}
    assert found["fields"]["made"]["types"] == {"text": 2}


def test_lists_of_a_front_matter_are_lists(tmp_path, lexigraft):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("---\ntags: [garden, spring]\n---\n# Water\n\nIn the morning.\n")
    (tmp_path / "notes/b.md").write_text("---\ntags:\n  - kitchen\n---\n# Water\n\nBoil it.\n")
    made = lexigraft("index", "--data", tmp_path / "notes", "--out", tmp_path / "index", "--json")
    assert made.json["metadata"] == ["tags"]
    asked = ("search", "--index", tmp_path / "index", "water", "--where", 'tags has "garden"', "--json")
    (hit,) = lexigraft(*asked).json["hits"]
    assert (hit["doc_id"], hit["metadata"]) == ("a.md", {"tags": ["garden", "spring"]})


def test_fields_that_a_file_no_longer_has_go_and_those_of_other_files_stay(tmp_path, lexigraft):
    file, index = tmp_path / "p.csv", tmp_path / "index"
    build = ("index", "--data", file, "--out", index, "--json")
    file.write_text("id,text,price,lang\n1,green tea,10,en\n")
    assert lexigraft(*build).json["metadata"] == ["price", "lang"]
    (tmp_path / "own.tsv").write_text("_id\tstock\n1\t5\n2\t7\n")
    assert lexigraft("index", "metadata", "--index", index, "--file", tmp_path / "own.tsv").status == 0
    file.write_text("id,text,price\n1,green tea,10\n2,black tea,30\n")
    assert sorted(lexigraft(*build).json["metadata"]) == ["price", "stock"]
    hits = lexigraft("search", "--index", index, "tea", "--json").json["hits"]
    assert {hit["doc_id"]: hit["metadata"] for hit in hits} == {"1": {"price": 10, "stock": 5}, "2": {"price": 30}}
    file.write_text("id,text\n1,green tea\n")
    assert lexigraft(*build).json["metadata"] == ["stock"]
    assert lexigraft(*build, "--no-metadata").json["metadata"] == ["stock"]


@pytest.mark.parametrize("again", [("id,text\n7,tea\n",), ("id,text,price\n7,tea,1\n", "--no-metadata")])
def test_without_fields_metadata_of_before_are_gone(tmp_path, lexigraft, again):
    file, index = tmp_path / "p.csv", tmp_path / "index"
    file.write_text("id,text,price\n1,green tea,10\n")
    build = ("index", "--data", file, "--out", index, "--json")
    assert lexigraft(*build).json["metadata"] == ["price"]
    file.write_text(again[0])
    assert lexigraft(*build, *again[1:]).json["metadata"] == []
    assert not (tmp_path / "index.metadata").exists()
    (hit,) = lexigraft("search", "--index", index, "tea", "--json").json["hits"]
    assert (hit["doc_id"], hit["metadata"]) == ("7", {})


def test_metadata_of_other_documents_are_not_shown(tmp_path, lexigraft):
    """As a kill between an index and its metadata leaves them."""
    for name, number in (("old", 1), ("new", 2)):
        (tmp_path / f"{name}.csv").write_text(f"id,text,price\n{number},green tea,10\n")
        assert lexigraft("index", "--data", tmp_path / f"{name}.csv", "--out", tmp_path / name).status == 0
    shutil.rmtree(tmp_path / "new.metadata")
    (tmp_path / "old.metadata").rename(tmp_path / "new.metadata")
    answer = lexigraft("search", "--index", tmp_path / "new", "tea", "--json")
    assert (answer.status, answer.json["hits"][0]["metadata"]) == (0, {})
    assert lexigraft("search", "--index", tmp_path / "new", "tea", "--where", "price=10").status == 2


def test_fields_of_long_texts_are_not_kept_to_filter_by(tmp_path, lexigraft):
    records = [{"id": n, "text": "green tea", "price": n, "html": f"<p>{n}{'x' * 1000}</p>"} for n in range(3)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    made = lexigraft("index", "--data", tmp_path / "p.jsonl", "--out", tmp_path / "index", "--json")
    assert made.json["metadata"] == ["price"]
    assert "html is not kept to filter by: its texts are too long" in made.stderr


def test_fields_that_cannot_be_kept_do_not_stop_an_index(tmp_path, lexigraft):
    """A key that no condition could name is left out alone, by name."""
    (tmp_path / "p.csv").write_text("id,text,a=b,price\n1,green tea,10,3\n2,black tea,11,4\n")
    said = "'a=b' is not kept to filter by: it cannot be named in a condition"
    for command in (("index", "--out", tmp_path / "index"), ("index", "add", tmp_path / "live")):
        made = lexigraft(*command, "--data", tmp_path / "p.csv", "--json")
        assert (made.status, made.json["metadata"]) == (0, ["price"])
        assert made.stderr.count(said) == 1
        found = lexigraft("search", "--index", command[-1], "tea", "--where", "price > 3", "--json").json["hits"]
        assert [(hit["doc_id"], hit["metadata"]) for hit in found] == [("2", {"price": 4})]


def test_the_fields_travel_with_an_index_and_a_run(tmp_path, lexigraft):
    """An explanation finds the text by them, without being told."""
    file = tmp_path / "odd.csv"
    file.write_text("nr,was\n5,green tea\n")
    fields = ("--fields", "id=nr,text=was")
    assert lexigraft("index", "--data", file, *fields, "--out", tmp_path / "index").status == 0
    explain = ("explain", "tea", "5", "--json")
    assert lexigraft(*explain, "--index", tmp_path / "index", "--data", file).json["doc_id"] == "5"
    run = ("run", "--data", file, *fields, "--out", tmp_path / "run", *LEXICAL)
    assert lexigraft(*run).status == 0
    assert lexigraft(*explain, "--run", tmp_path / "run").json["doc_id"] == "5"
    again = lexigraft(*run)
    assert "encode bm25 (judged): done before" in again.stderr
    other = lexigraft("run", "--data", file, "--fields", "id=,text=was", "--out", tmp_path / "run", *LEXICAL)
    assert "encode bm25 (judged): done before" not in other.stderr
    assert lexigraft("search", "--run", tmp_path / "run", "tea", "--json").json["hits"][0]["doc_id"] == "1"


def test_a_file_that_says_nothing_lists_its_fields(tmp_path, lexigraft):
    file = tmp_path / "odd.csv"
    file.write_text("nr,was\n5,green tea\n")
    call = ("index", "--data", file, "--out", tmp_path / "index")
    one_line_error(lexigraft(*call), "odd.csv", "its fields are nr, was", "--fields text=FIELD")
    one_line_error(lexigraft(*call, "--fields", "text=what"), "has no field 'what'", "its fields are nr, was")
    one_line_error(lexigraft(*call, "--fields", "txt=was"), "'txt' is no role")
    one_line_error(lexigraft(*call, "--format", "xml"), "one of auto, csv, tsv, jsonl")
    assert not (tmp_path / "index").exists()


GERMAN = (
    'id,text\n1,"Der Hund ist im Garten und spielt mit dem Ball. Das Kind wird nicht müde, auch wenn es lange läuft."\n'
    '2,"Die Katze liegt auf dem Dach und sieht sich die Vögel an. Sie ist aber zu müde für die Jagd."\n'
)


@needs_cld2
def test_a_look_guesses_the_language_that_its_commands_take(tmp_path, lexigraft, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hunde.csv").write_text(GERMAN)
    found = lexigraft("data", "look", "hunde.csv", "--json").json
    assert found["language"] == {
        "name": "german", "sure": True, "because": "99% of 148 letters", "stemmer": "german", "stopwords": "german",
    }  # fmt: skip
    line = "language: German (99% of 148 letters): stemmer german, stop-words german"
    assert line in " ".join(lexigraft("data", "look", "hunde.csv").stdout.split())
    assert line in (Path(__file__).parents[2] / "docs/explanation/words.md").read_text()
    index, run = (shlex.split(command)[1:] for command in found["commands"])
    made = lexigraft(*index)
    assert made.status == 0 and line in made.stderr
    hits = lexigraft("search", "--index", "INDEX", "Gärten", "--json").json["hits"]  # one stem in German alone
    assert [hit["doc_id"] for hit in hits] == ["1"]
    assert lexigraft(*run, *LEXICAL).status == 0


def test_a_look_that_is_unsure_says_so_and_sets_nothing(tmp_path, lexigraft):
    (tmp_path / "p.csv").write_text("id,text\n1,PX-200 kg\n2,QZ-7\n")
    found = lexigraft("data", "look", tmp_path / "p.csv", "--json").json
    assert (found["language"]["sure"], found["language"]["stemmer"]) == (False, "english")
    assert not any("--set" in command for command in found["commands"])
    assert "language: unsure (" in lexigraft("data", "look", tmp_path / "p.csv").stdout
    (tmp_path / "q.csv").write_text("id,query\n1,tea\n")
    queries = lexigraft("data", "look", tmp_path / "q.csv", "--as", "queries", "--json").json
    assert "language" not in queries  # it is the documents that decide


def test_a_live_index_takes_files_of_the_same_kind(tmp_path, lexigraft):
    csv_file(tmp_path / "one.csv")
    (tmp_path / "two.csv").write_text("sku,name,description,price\n12,Mug,for tea and milk,5\n")
    for file in ("one.csv", "two.csv"):
        add = ("index", "add", tmp_path / "live", "--data", tmp_path / file, "--fields", FIELDS)
        assert lexigraft(*add).status == 0
    hits = lexigraft("search", "--index", tmp_path / "live", "tea", "--json").json["hits"]
    assert {hit["doc_id"] for hit in hits} == {"11", "12"}


def test_a_run_of_a_file_with_queries_and_judgements(tmp_path, lexigraft):
    csv_file(tmp_path / "p.csv")
    (tmp_path / "q.csv").write_text("qid,query\n7,tea\n8,boils water\n")
    (tmp_path / "j.jsonl").write_text('{"qid": 7, "sku": 11, "grade": 1}\n{"qid": 8, "sku": "10", "grade": 2}\n')
    judged = ("--queries", tmp_path / "q.csv", "--qrels", f"dev={tmp_path / 'j.jsonl'}")
    call = ("run", "--data", tmp_path / "p.csv", "--out", tmp_path / "run", *LEXICAL, "--json")
    report = lexigraft(*call, *judged).json
    assert (report["collection"]["split"], report["collection"]["queries"]) == ("dev", 2)
    assert report["rows"][0]["MRR@10"] == 1
    one_line_error(lexigraft(*call, "--queries", tmp_path / "absent.csv"), "there is no file", "absent.csv")
    converted = ("data", "convert", tmp_path / "p.csv", "--out", tmp_path / "beir", *judged)
    assert lexigraft(*converted).status == 0
    assert lexigraft("data", "stats", tmp_path / "beir", "--json").json["splits"]["dev"]["pairs"] == 2


@pytest.mark.parametrize(("name", "write"), FORMATS, ids=[f"{name}-{write.__name__}" for name, write in FORMATS])
def test_look_shows_what_is_understood(tmp_path, lexigraft, name, write):
    write(tmp_path / name)
    found = lexigraft("data", "look", tmp_path / name, "--json").json
    roles = {field: said["role"] for field, said in found["fields"].items()}
    assert roles == {"sku": "id", "name": "title", "description": "text", "price": "metadata"}
    assert (found["documents"], found["guessed"], found["warnings"]) == (2, ["id", "text", "title"], [])
    assert found["shown"][1] == {"doc_id": "11", "title": "Teapot", "text": 'Holds "tea"'}
    assert found["fields"]["sku"]["types"] == {"whole number": 2}


def test_the_command_that_look_prints_builds_the_index(tmp_path, lexigraft):
    file = tmp_path / "my products.csv"
    csv_file(file)
    printed = lexigraft("data", "look", file).stdout
    assert re.search(r"sku +id \(guessed\) +whole number +0", printed)
    assert "doc_id: 10  title: Kettle  text: Boils water, fast" in printed
    (command,) = [line for line in printed.splitlines() if line.startswith("  lexigraft index")]
    _, *arguments = shlex.split(command.replace("INDEX", str(tmp_path / "index")))
    built = lexigraft(*arguments, "--json")
    assert built.json["documents"] == 2
    assert "guessed" not in built.stderr  # the command names all of them


def test_look_warns(tmp_path, lexigraft):
    rows = [{"text": "a", "year": 2001}, {"text": "", "year": "none"}, {"text": "x" * 300_000}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    warned = " | ".join(lexigraft("data", "look", tmp_path / "a.jsonl", "--json").json["warnings"])
    assert "there is no id" in warned
    assert "1 documents have no words" in warned
    assert "field 'year' has values of several types: whole number, text (1)" in warned
    assert "300,000 characters" in warned
    (tmp_path / "b.tsv").write_text('id\ttext\n1\t"quoted"\n1\tagain\n')
    warned = " | ".join(lexigraft("data", "look", tmp_path / "b.tsv", "--json").json["warnings"])
    assert "1 ids came before" in warned
    assert "--format csv" in warned
    (tmp_path / "c.txt").write_text("one\ntwo\n")
    found = lexigraft("data", "look", tmp_path / "c.txt", "--json").json
    assert (found["documents"], len(found["warnings"])) == (2, 1)


def test_look_at_queries_and_judgements(tmp_path, lexigraft):
    (tmp_path / "q.csv").write_text("qid,query,lang\n7,tea,en\n")
    found = lexigraft("data", "look", tmp_path / "q.csv", "--as", "queries", "--json").json
    assert (found["queries"], found["shown"]) == (1, [{"query_id": "7", "text": "tea"}])
    (tmp_path / "j.csv").write_text("qid,sku,grade\n7,11,2\n")
    found = lexigraft("data", "look", tmp_path / "j.csv", "--as", "judgements", "--json").json
    assert found["shown"] == [{"query_id": "7", "doc_id": "11", "relevance": 2}]
    one_line_error(lexigraft("data", "look", tmp_path / "j.csv", "--as", "clicks"), "documents, queries, judgements")
    one_line_error(lexigraft("data", "look", tmp_path / "absent.csv"), "there is no collection at", "absent.csv")
    one_line_error(lexigraft("data", "look", tmp_path / "x", "--as", "queries"), "there is no file")


def test_a_folder_of_markdown_by_heading(tmp_path, lexigraft):
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "install.md").write_text("# Install\n## Linux\nuse apt\n## Mac\nuse brew\n")
    (notes / "sub/tea.html").write_text("<title>Tea</title><h1>Green</h1>leaf<script>hidden</script>")
    (notes / "picture.png").touch()
    found = lexigraft("data", "look", notes, "--json").json
    assert (found["documents"], found["warnings"]) == (2, ["files that are not read: 1 .png"])
    by_heading = ("--set", "data.passage_by=headings")
    assert (
        lexigraft("index", "--data", notes, "--out", tmp_path / "index", *by_heading, "--json").json["documents"] == 3
    )
    (hit,) = lexigraft("search", "--index", tmp_path / "index", "brew", "--json").json["hits"]
    assert hit["doc_id"] == "install.md"
    explained = lexigraft("explain", "--index", tmp_path / "index", "--data", notes, "brew", "install.md", "--json")
    assert explained.json["doc_id"] == "install.md#1"
    assert lexigraft("search", "--index", tmp_path / "index", "hidden", "--json").json["hits"] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sku;name;description\n10;Kettle;Boils\n", "csv"),
        ("sku\tname\tdescription\n10\tKettle\tBoils\n", "tsv"),
        ('{"sku": 10, "name": "Kettle", "description": "Boils"}\n', "jsonl"),
        ('[{"sku": 10, "name": "Kettle", "description": "Boils"}]', "json"),
    ],
)
def test_standard_input_is_known_by_how_it_begins(lexigraft, piped, text, kind):
    piped(text)
    found = lexigraft("data", "look", "-", "--json").json
    assert (found["format"], found["shown"][0]["doc_id"]) == (kind, "10")


def test_standard_input_becomes_an_index_and_a_run(tmp_path, lexigraft, piped):
    text = "sku,description\n10,green tea\n"
    piped(text)
    assert lexigraft("index", "--data", "-", "--out", tmp_path / "index").status == 0
    assert lexigraft("search", "--index", tmp_path / "index", "tea", "--json").json["hits"][0]["doc_id"] == "10"
    run = ("run", "--data", "-", "--out", tmp_path / "run", *LEXICAL)
    piped(text)
    assert lexigraft(*run).status == 0
    piped(text)
    assert "index bm25 (judged): done before" in lexigraft(*run).stderr
    piped("")  # the run keeps its copy
    assert lexigraft("explain", "--run", tmp_path / "run", "tea", "10", "--json").json["doc_id"] == "10"
    one_line_error(lexigraft("index", "--data", "-", "--out", tmp_path / "other"), "standard input is empty")
    piped("green tea, hot\nblack tea\n")
    lines = ("index", "--data", "-", "--format", "lines", "--out", tmp_path / "lines", "--json")
    assert lexigraft(*lines).json["documents"] == 2
