"""`judge`: questions and answers from a pipe, what is kept of them, kills, and what goes wrong."""

import io
import json
import os
import select
import shutil
import subprocess
import sys
import termios
import time

import pytest

from lexigraft.core.types import Document
from lexigraft.data.write import write_collection
from lexigraft.retrieve.judging import to_judge
from lexigraft.retrieve.open_judging import open_judging
from lexigraft.stages.user_judgements import decided_by_user
from tests.e2e.test_bad_input import one_line_error

WORDS = ("sort", "graph", "date", "list", "path", "item", "string", "set", "clock", "tree", "table", "query")
# Of each word two documents with it and one with its plural: stems find all, plain words only the last.
DOCUMENTS = [
    Document(f"{word}{end}", "", f"About {word}{end.strip('2')} <b>and</b> more.")
    for word in WORDS
    for end in ("", "2", "s")
]
PLURALS = [f"{word}s" for word in WORDS]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    from lexigraft.core.config import load_settings
    from lexigraft.whole_run import run

    root = tmp_path_factory.mktemp("judged")
    write_collection(root / "data", DOCUMENTS)
    values = {"run.systems": ["bm25", "bm25-plain"], "index.texts": "yes"}
    run(str(root / "data"), root / "run", load_settings(values=values))
    return root / "run"


@pytest.fixture
def run(made, tmp_path):
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def judge(lexigraft, run, monkeypatch):
    """`judge(*options, lines=[...])`: the command with what is typed."""

    def call(*options, lines=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return lexigraft("judge", "--run", run, *options)

    return call


def test_documents_are_shown_whole_and_again(judge):
    first = judge(lines=["sorts", "yes", "t", "b", "x", "y"])
    assert first.status == 0 and "not enough yet" in first.stdout.splitlines()[-1]
    assert [first.stdout.count(f"[{at} of") for at in (1, 2)] == [2, 3] and "About sort" in first.stdout
    state = judge("--json").json
    assert (state["systems"], state["n_queries"], state["decided"]) == (["bm25", "bm25-plain"], 0, None)


def test_a_system_is_decided_for(judge, run, tmp_path):
    """The singular answers each question, and only stems find it."""
    (tmp_path / "questions.txt").write_text("\n".join(["", *PLURALS, "zzz", PLURALS[0]]))
    judging = open_judging(run)
    lines = []
    for text in PLURALS:
        question = judging.ask(text)
        assert question.first != question.second
        lines += ["y" if doc_id == text.removesuffix("s") else "n" for doc_id in question.doc_ids]
    ended = judge("--questions", tmp_path / "questions.txt", lines=lines)
    assert ended.status == 0
    state = judge("--json").json
    assert ended.stdout.splitlines()[-1] == state["said"]
    if state["decided"] is None:
        assert "zzz: nothing is found" in ended.stderr
    assert (state["decided"], state["n_second_better"]) == ("bm25", 0) and state["p"] <= 0.05
    assert state["said"].startswith("bm25 is better (") and decided_by_user(run) == "bm25"
    decision = json.loads((run / "judgements/decision.json").read_text())
    assert decision["decided"] == "bm25" and decision["difference"] == state["difference"] < 0
    again = judge("--questions", tmp_path / "questions.txt")  # asks nothing more
    assert again.stdout.splitlines() == [state["said"]]


def test_evaluate_reads_what_was_judged(judge, run, lexigraft):
    judge(lines=["sorts", "y", "n", "graphs", "n", "y"])
    kept = run / "judgements"
    indexes = [part for name in ("bm25", "bm25-plain") for part in ("--index", next(run.glob(f"*/{name}/index")))]
    found = lexigraft(
        "evaluate", *indexes, "--queries", kept / "queries.jsonl", "--qrels", kept / "qrels/test.tsv", "--json"
    )
    assert found.status == 0 and found.json["queries"] == 2


def test_skipping_and_questions_with_nothing_to_judge(judge, run):
    ended = judge(lines=["sorts", "y", "s", "zzz", "more", "graphs", "q", "y"])
    assert "zzz: nothing is found for this question" in ended.stderr
    assert "more: both systems have the same first documents" in ended.stderr
    state = judge("--json").json
    assert (state["n_queries"], state["n_same"]) == (1, 1)
    assert [(one.text, dict(one.answers)) for one in open_judging(run).asked] == [("sorts", {}), ("more", {})]
    judge(lines=["sorts", "y", "n"])  # asked again, it is judged
    assert judge("--json").json["n_queries"] == 2


def test_nothing_tells_which_system_found_what(run):
    judging = open_judging(run)
    question = judging.ask("sorts")
    other = open_judging(run, system="bm25", baseline="bm25-plain").ask("sorts")
    assert list(question.doc_ids) == list(other.doc_ids) and question.first == other.second
    orders = {tuple(to_judge(f"question {number}", ["a", "b"], ["c", "d"])) for number in range(50)}
    assert len(orders) > 10
    assert sorted(to_judge("q", ["a", "b", "c"], ["c", "a", "d"])) == ["b", "d"]
    assert [shown.doc_id for shown in judging.shown(question)] == list(question.doc_ids)


def test_a_killed_session_goes_on_where_it_was(run):
    def begin():
        line = [sys.executable, "-m", "lexigraft", "judge", "--run", str(run)]
        return subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    qrels, process = run / "judgements/qrels/test.tsv", begin()
    process.stdin.write("sorts\ny\n")
    process.stdin.flush()
    while "[2 of" not in process.stdout.readline():  # an answer is kept before the next document is shown
        pass
    process.kill()
    process.communicate()
    (kept,) = qrels.read_text().splitlines()[1:]
    assert kept.startswith("q1\t") and kept.endswith("\t1")
    shown, _ = begin().communicate("n\n", timeout=120)
    assert "[1 of" not in shown and "[2 of" in shown  # what was answered is not asked again
    assert qrels.read_text().splitlines()[1] == kept and len(qrels.read_text().splitlines()) == 3


def test_what_cannot_be_judged(judge, run, lexigraft, made, tmp_path):
    one_line_error(judge("--system", "grafted"), "no system 'grafted' to judge; present: bm25, bm25-plain")
    one_line_error(judge("--system", "bm25"), "system and baseline are both bm25; give two of bm25, bm25-plain")
    one_line_error(judge("--questions", tmp_path / "none.txt"), "none.txt")
    shutil.rmtree(next(run.glob("*/texts")))
    one_line_error(judge(), "keeps no texts; continue the run with its command and --texts yes")
    one_line_error(lexigraft("judge", "--run", tmp_path / "none"), "there is no run at")


def test_judgements_go_with_the_run_that_they_are_of(judge, run, lexigraft, collection):
    judge(lines=["sorts", "y", "n"])
    assert (run / "judgements/decision.json").is_file()
    other = ("run", "--data", collection, "--out", run, "--set", 'run.systems=["bm25"]')
    assert lexigraft(*other).status == 2
    assert lexigraft(*other, "--replace").status == 0
    assert not list((run / "judgements").rglob("*.*s*")) and decided_by_user(run) is None


def test_a_terminal_takes_single_keys(run):
    """The second document is answered before its line would have ended; Ctrl-D at the next question ends."""
    ours, theirs = os.openpty()
    line = [sys.executable, "-m", "lexigraft", "judge", "--run", str(run)]
    process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    said = ""

    def until(text):
        nonlocal said
        while text not in said:
            assert select.select([ours], [], [], 120)[0], said
            said += os.read(ours, 4096).decode()
        said = said.partition(text)[2]

    try:
        until("question>")
        os.write(ours, b"sorts\n")
        for key in (b"y", b"b", b"n", b"Y"):
            until("relevant?")
            while termios.tcgetattr(ours)[3] & termios.ICANON:  # what is typed before it waits for a key is dropped
                time.sleep(0.01)
            os.write(ours, key)
        until("(1 question")
        until("question>")
        os.write(ours, b"\x04")
        until("not enough yet")
        assert process.wait(60) == 0
    finally:
        process.kill()
        os.close(ours)
    answers = open_judging(run).ask("sorts").answers
    assert sorted(answers.values()) == [False, True]
