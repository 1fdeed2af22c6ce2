"""Pipes where files are expected: one that somebody writes settings to is read, any other is one line, at once."""

import os
import shlex
import subprocess
import sys

import pytest


@pytest.fixture
def place(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "river bank"}\n{"_id": "d2", "text": "a stone"}\n')
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def command(*arguments, shell=""):
    call = [sys.executable, "-m", "lexigraft", *map(str, arguments)]
    if shell:
        call = ["bash", "-c", f"{shlex.join(call)} {shell}"]
    return subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("option", ["--config", "--recipe"])
def test_a_pipe_without_a_writer_is_not_waited_for(place, option):
    """Before, `--config` waited for ever."""
    done = command("run", "--data", place, "--out", place / "run", option, place / "pipe")
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "a pipe that nobody writes to" in done.stderr and str(place / "pipe") in done.stderr
    assert not (place / "run").exists()


def test_settings_come_through_a_pipe(place):
    out = place / "index"
    done = command("index", "--data", place, "--out", out, shell="--config <(sleep .2; echo '[lexical]'; echo k1=0.7)")
    assert done.returncode == 0, done.stderr
    assert '"k1": 0.7' in (out / "meta.json").read_text()
