"""What Python programs give that is no argument: an error of the user's names it and what is allowed, in Python."""

import re
from pathlib import Path

import numpy as np
import pytest

import lexigraft as lg
from lexigraft.cli.in_flags import OPTIONS, in_flags
from lexigraft.core.errors import LexigraftError

FLAG = re.compile(r"(?<!\S)--[a-z]")
COMMAND = re.compile(r"lexigraft [a-z].*")  # a remedy that is a command has its options


@pytest.fixture(scope="module")
def live():
    with lg.Retriever.from_texts(["a quick fox", "lazy dogs"], ids=["a", "b"]) as found:
        yield found


@pytest.fixture(scope="module")
def plain(tmp_path_factory, live):
    folder = tmp_path_factory.mktemp("plain") / "saved"
    live.save(folder)
    return folder


NO_TEXTS = [None, 3, b"fox", ["fox"], {"fox": 1}]
NO_LISTS = [None, 3, b"fox", "fox", {"fox": 1}, [None], ["fox", b"x"], ["fox", 3]]


def refused(call, *said):
    with pytest.raises(LexigraftError) as error:
        call()
    message = str(error.value)
    assert all(part in message for part in said), message
    assert "\n" not in message and not FLAG.search(COMMAND.sub("", message)), message


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
@pytest.mark.parametrize("name", ["search", "answer", "terms", "unknown_words", "notices"])
def test_a_query_is_a_text(live, name, value):
    refused(lambda: getattr(live, name)(value), f"= {value!r} is not allowed: a text")


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
def test_so_are_both_sides_of_an_explanation(live, value):
    refused(lambda: live.explain("fox", value), f"doc_id = {value!r} is not allowed: a text")
    refused(lambda: live.explain(value, "a"), f"query = {value!r} is not allowed: a text")


@pytest.mark.parametrize("value", NO_LISTS, ids=repr)
@pytest.mark.parametrize("name", ["search_many", "add", "delete", "from_texts"])
def test_a_list_of_texts_is_none_of_these(live, name, value):
    said = "is one string; give a list of them, such as ['fox']" if value == "fox" else "text"
    refused(lambda: getattr(live, name)(value), said)
    assert len(live) == 2


def test_any_collection_of_texts_will_do(live):
    many = [["fox"], ("fox",), {"fox": 1}.keys(), np.array(["fox"]), iter(["fox"]), (text for text in ["fox"])]
    assert [len(live.search_many(queries)) for queries in many] == [1] * 6


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 0}, "k = 0 is not allowed: 1 or more"), ({"k": -1}, "k = -1 is not allowed"),
        ({"k": None}, "k = None is not allowed: a whole number"), ({"k": "3"}, "k = '3'"), ({"k": 2.5}, "k = 2.5"),
        ({"k": True}, "k = True"), ({"where": None}, "where = None is not allowed: a text or a list of texts"),
        ({"where": 3}, "where = 3"), ({"where": ["x = 1", 3]}, "where[1] = 3 is not allowed: a text"),
        ({"where": {"year": 3}}, "where = {'year': 3}"), ({"where": "year"}, "the condition 'year', at the end"),
        ({"overlap": None}, "overlap = None is not allowed: a number"), ({"overlap": "x"}, "overlap = 'x'"),
        ({"overlap": 2}, "overlap = 2 is not allowed"), ({"overlap_of": "x"}, "overlap_of = 'x' is not allowed"),
        ({"two_step": "x"}, "two_step = 'x'"), ({"two_step": -1}, "two_step = -1 is not allowed"),
        ({"n": 3}, "search has no argument 'n': it takes query, k, where"), ({"kk": 3}, "did you mean k?"),
        ({"overlaps": 1}, "did you mean overlap?"),
    ],
    ids=str,
)  # fmt: skip
def test_how_a_search_is_asked(live, given, said):
    refused(lambda: live.search("fox", **given), said)


def test_numbers_of_numpy_are_numbers(live):
    assert live.search("fox", k=np.int64(1), overlap=np.float32(0.5)) == live.search("fox", k=1, overlap=0.5)


def test_documents_are_added_and_deleted_as_python_says(live):
    refused(lambda: live.add(["again"], ids=["a"]), "give replacing=True")
    refused(lambda: live.add(["x", "y"], ids="ab"), "ids is one string; give a list of them, such as ['ab']")
    refused(lambda: live.add(["x"], ids=[3]), "ids[0] = 3 is not allowed: a text")
    refused(lambda: live.add(["x"], replacing="yes"), "replacing = 'yes' is not allowed: True or False")
    refused(lambda: live.delete("a"), "ids is one string; give a list of them, such as ['a']")
    refused(lambda: live.delete(["zz"]), "such as 'zz'", "leave these out")


def test_what_is_opened(live, plain):
    for value in (None, 3, b"x", ["x"]):
        refused(lambda value=value: lg.Retriever.open(value), f"path = {value!r} is not allowed: a text or a path")
        refused(lambda value=value: live.save(value), f"path = {value!r}")
    refused(lambda: lg.Retriever.open(plain, 3), "system = 3")
    refused(lambda: lg.Retriever.open(plain, "bm25"), "leave system out")
    refused(lambda: lg.Retriever.open(plain, dk=3), "leave dk out")
    refused(lambda: lg.Retriever.open(plain, qk=[1]), "qk = [1] is not allowed")
    refused(lambda: lg.Retriever.open(plain, sytem="bm25"), "open has no argument 'sytem'", "did you mean system?")
    refused(lambda: lg.Retriever.from_file(None), "path = None")
    refused(lambda: lg.Retriever.from_texts(["x"], settings=3), "settings = 3 is not allowed: a LexicalSettings")
    with lg.Retriever.open(plain) as opened:
        refused(lambda: opened.search("fox", where="year = 3"), "no metadata")
        refused(lambda: lg.evaluate(opened), "has no judged queries")
    refused(lambda: opened.search("fox"), "was closed")
    refused(lambda: opened.notices("fox"), "was closed")


def test_functions(tmp_path, collection, live):
    for value in (None, 3, b"x", ["x"]):
        refused(lambda value=value: lg.run(value, tmp_path / "out"), f"data = {value!r} is not allowed")
        refused(lambda value=value: lg.run(collection, value), f"out = {value!r} is not allowed")
        refused(lambda value=value: lg.evaluate(value), f"what = {value!r} is not allowed")
        refused(lambda value=value: lg.SparseEncoder.open(value), f"path = {value!r} is not allowed")
    refused(lambda: lg.run(collection, tmp_path / "out", set="x"), "set = 'x' is not allowed: a mapping")
    refused(lambda: lg.run(collection, tmp_path / "out", recipe=3), "recipe = 3")
    refused(lambda: lg.run(collection, tmp_path / "out", minutes="x"), "minutes = 'x' is not allowed: a number")
    refused(lambda: lg.run(collection, tmp_path / "out", minutes=-1), "minutes = -1 is not allowed")
    refused(lambda: lg.run(collection, tmp_path, steps=1), "run has no argument 'steps'")
    refused(lambda: lg.compare("runs/a"), "runs is one string; give a list of them, such as ['runs/a']")
    refused(lambda: lg.compare([]), "runs is empty")
    refused(lambda: lg.compare([3]), "runs[0] = 3 is not allowed: a Run or a text or a path")
    judged = {"queries": {"q": "fox"}, "qrels": {"q": {"a": 1}}}
    refused(lambda: lg.evaluate(live, **{**judged, "queries": ["q"]}), "queries = ['q'] is not allowed: a mapping")
    refused(lambda: lg.evaluate(live, **judged, measures="MRR@10"), "measures is one string")
    refused(lambda: lg.evaluate(live, **judged, k=0), "k = 0")
    refused(lambda: lg.Run(None), "folder = None")
    assert lg.Run(str(tmp_path)).folder == Path(tmp_path)
    (tmp_path / "mine.txt").write_text("my own")
    refused(lambda: lg.run(collection, tmp_path), "give another out=PATH")


def test_the_command_line_says_options():
    assert in_flags("give replacing=True to put it") == "give --replace to put it"
    assert in_flags("give another out=PATH, or replace=True") == "give another --out, or --replace"
    for other in ("lexical.system=NAME", "xreplace=True", "replace=Truely"):
        assert in_flags(other) == other
    assert all(FLAG.search(in_flags(python)) and not FLAG.search(python) for python in OPTIONS)


def test_a_command_says_what_a_program_is_told_in_options(tmp_path, lexigraft, live):
    (tmp_path / "docs.jsonl").write_text('{"_id": "a", "text": "one"}\n')
    lexigraft("index", "add", tmp_path / "live", "--data", tmp_path / "docs.jsonl")
    again = lexigraft("index", "add", tmp_path / "live", "--data", tmp_path / "docs.jsonl")
    assert again.status == 2 and "give --replace to put" in again.stderr
    assert "give --missing ok" in lexigraft("index", "delete", tmp_path / "live", "zz").stderr
