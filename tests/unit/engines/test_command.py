"""`lexigraft engine`, and searches of an engine from the command line."""

import json

import pytest

from lexigraft.engines.engine import EngineError, UnreachableError
from tests.engines.memory import MemoryEngine
from tests.unit.engines.conftest import ADDRESS

SHOWN = "qdrant://localhost:6333/papers"


def test_from_a_run_to_results(run, engines, lexigraft):
    done = lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    assert done.status == 0 and f"{SHOWN}: 6 documents; 6 loaded in" in done.stdout and "a-secret" not in done.stdout
    again = json.loads(lexigraft("engine", "load", "--run", run, "--system", "bm25", "--to", ADDRESS, "--json").stdout)
    assert (again["rows"], again["before"], again["engine"]) == (6, 6, SHOWN)
    said = lexigraft("engine", "status", ADDRESS).stdout
    assert "6 documents" in said and "; complete" in said and str(run) in said and "year (number)" in said
    here, there = (
        lexigraft("search", "sort a list", *where, "--where", "year >= 2000", "--json").stdout
        for where in (("--run", run), ("--engine", ADDRESS))
    )
    assert json.loads(here) == json.loads(there) and json.loads(there)["hits"]
    assert "matched: " in lexigraft("search", "sort a list", "--engine", ADDRESS, "--run", run).stdout


def test_many_queries(run, engines, lexigraft, collection, tmp_path):
    lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    for where, out in ((("--run", run), "here"), (("--engine", ADDRESS), "there")):
        lexigraft("search", *where, "--queries", collection / "queries.jsonl", "--out", tmp_path / out)
    assert (tmp_path / "here").read_text() == (tmp_path / "there").read_text() != ""


def test_a_load_that_was_stopped_goes_on(run, engines, lexigraft, monkeypatch):
    monkeypatch.setattr("lexigraft.engines.loading.NOTED_EVERY", 1)
    engine = engines["papers"] = MemoryEngine()
    calls = iter(range(100))

    def fail():
        if next(calls) == 5:
            raise EngineError("the disk of localhost is full; make room")

    engine.fail = fail
    options = ("engine", "load", "--run", run, "--to", ADDRESS, "--batch", "1", "--threads", "1")
    stopped = lexigraft(*options)
    assert (stopped.status, stopped.stderr) == (2, "error: the disk of localhost is full; make room\n")
    said = json.loads(lexigraft("engine", "status", ADDRESS, "--json").stdout)
    assert 0 < said["loaded"] < 6 and not said["complete"] and said["missing"] > 0
    assert "rows are missing" in lexigraft("engine", "status", ADDRESS).stdout
    assert f"has {said['loaded']} of 6 rows" in lexigraft("search", "sort", "--engine", ADDRESS).stderr
    assert f"{said['loaded']} were there before" in lexigraft(*options).stdout
    assert json.loads(lexigraft("engine", "status", ADDRESS, "--json").stdout)["complete"]


def test_documents_and_collections_go(run, engines, lexigraft):
    lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    assert f"{SHOWN}: 1 document deleted, 5 left" in lexigraft("engine", "delete", ADDRESS, "d2", "d99").stdout
    assert "all were loaded, 1 document deleted since" in lexigraft("engine", "status", ADDRESS).stdout
    assert "d2" not in lexigraft("search", "sort", "--engine", ADDRESS).stdout
    kept = lexigraft("engine", "drop", ADDRESS)
    assert kept.status == 2 and "5 documents" in kept.stderr and "--yes" in kept.stderr and engines["papers"].rows
    assert lexigraft("engine", "drop", ADDRESS, "--yes").status == 0 and not engines["papers"].rows
    assert "no collection at" in lexigraft("engine", "drop", ADDRESS, "--yes").stderr


@pytest.mark.parametrize("error", [EngineError, UnreachableError])
def test_a_collection_that_cannot_be_counted_is_dropped(error, run, engines, lexigraft):
    """One in shards that was dropped by half lacks tables; the command is what drops the rest."""
    lexigraft("engine", "load", "--run", run, "--to", ADDRESS)

    def count():
        raise error("papers__s0 at two:5432: relation does not exist; there is no such collection; load it")

    engines["papers"].count = count
    kept = lexigraft("engine", "drop", ADDRESS)
    assert kept.status == 2 and "papers__s0" in kept.stderr and engines["papers"].rows
    done = lexigraft("engine", "drop", ADDRESS, "--yes", "--json")
    assert done.status == 0 and json.loads(done.stdout) == {"engine": SHOWN, "dropped": None}
    assert not engines["papers"].rows and engines["papers"].description is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("engine", "load", "--to", ADDRESS), "give either --run RUN or --index INDEX"),
        (("engine", "load", "--run", "RUN", "--to", "redis://a-secret@host/x"), "is no engine"),
        (("engine", "load", "--run", "/nowhere", "--to", ADDRESS), "there is no run at /nowhere"),
        (("engine", "status", ADDRESS), f"no collection at {SHOWN}"),
        (("search", "x", "--engine", ADDRESS), f"no collection at {SHOWN}"),
        (("search", "x", "--engine", "here/there"), "is no engine"),
        (("search", "x", "--engine", ADDRESS, "--dk", "5"), "leave out dk"),
        (("search", "x", "--engine", ADDRESS, "--cost", "0.5"), "choose among the prunings of a --run"),
    ],
)
def test_errors_are_one_line(arguments, message, run, engines, lexigraft):
    said = lexigraft(*(run if word == "RUN" else word for word in arguments))
    assert said.status == 2 and message in said.stderr and said.stderr.count("\n") == 1
    assert "a-secret" not in said.stderr


def test_an_engine_that_does_not_answer(run, engines, lexigraft):
    engine = engines["papers"] = MemoryEngine()

    def describe():
        raise UnreachableError("localhost:6333 does not answer (refused); is the server running?")

    engine.describe = describe
    said = lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    assert said.status == 2 and said.stderr.splitlines()[-1].endswith("is the server running?")
    assert "Traceback" not in said.stderr
    at_once = lexigraft("search", "sort", "--engine", ADDRESS)
    assert at_once.stderr == "error: localhost:6333 does not answer (refused); is the server running?\n"


def test_it_is_measured_beside_the_local_index(run, engines, lexigraft, collection):
    lexigraft("engine", "load", "--run", run, "--to", ADDRESS)
    given = ("--index", run / "judged/bm25/index", "--engine", ADDRESS, "--data", collection, "--json")
    found = json.loads(lexigraft("evaluate", *given).stdout)["systems"]
    here, there = found.pop("index"), found.pop(SHOWN)
    assert here.pop("ms_text_to_ids") > 0 < there.pop("ms_text_to_ids")
    assert here == there and there["nDCG@10"] > 0.5 and not found
    said = lexigraft("evaluate", "--engine", ADDRESS)
    assert said.status == 2 and "an --engine is searched with queries" in said.stderr
