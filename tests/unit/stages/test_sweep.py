"""What killed writers leave in a run's folder goes with the next call, and what is somebody's stays."""

import os
from shutil import copytree

import pytest

import lexigraft as lg
from lexigraft.core.artifact import DRAFT_MARK, write_json
from lexigraft.core.sealed_json import write_sealed

GONE = 99_999_999  # above the highest number that a process can have


def test_the_next_call_sweeps_what_killed_writers_left(collection, tmp_path):
    run = tmp_path / "run"
    lg.run(collection, run, set={"run.systems": ["bm25"]})
    left = [run / f".{name}.{GONE}" for name in ("run.json", "timings.json", "report.md", "report.png")]
    for file in left:
        file.write_text("half")
    drafts = {pid: run / f"judged/bm25/index-dk7.draft-{pid}" for pid in (GONE, os.getpid())}
    for draft in drafts.values():
        draft.mkdir()
        (draft / DRAFT_MARK).touch()
    former = copytree(run / "judged/bm25/index", run / f"judged/bm25/index.draft-{GONE - 1}")  # replaced, half removed
    mine = run / ".run.json.mine"
    mine.write_text("a copy")
    lg.run(collection, run, set={"run.systems": ["bm25"]})
    assert not [file for file in left if file.exists()]
    assert not drafts[GONE].exists() and drafts[os.getpid()].exists()  # somebody may be at work on that one
    assert mine.exists() and not former.exists()


@pytest.mark.parametrize("write", [write_sealed, write_json])
def test_a_write_that_is_interrupted_leaves_the_old_and_nothing_beside_it(write, tmp_path, monkeypatch):
    write(tmp_path / "run.json", {"a": 1})
    before = (tmp_path / "run.json").read_bytes()

    def stopped(_descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "run.json", {"a": 2})
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
    assert (tmp_path / "run.json").read_bytes() == before
