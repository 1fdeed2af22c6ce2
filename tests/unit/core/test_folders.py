"""Folders with all above them, and names that no folder can have."""

import sys
from pathlib import Path

import pytest

from lexigraft.core.folders import make_folders


def test_levels_that_are_absent_are_made(tmp_path):
    make_folders(tmp_path / "a/b/c")
    make_folders(tmp_path / "a/b/c")  # and what is there stays
    assert (tmp_path / "a/b/c").is_dir()


def test_a_name_of_more_levels_than_python_calls_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # so that the name stays below what systems allow
    deep = Path("/".join("a" * (sys.getrecursionlimit() + 100)))
    with pytest.raises(OSError, match="too long"):
        make_folders(deep)
    assert not list(tmp_path.iterdir())


def test_a_deep_name_is_one_line_of_error(tmp_path, monkeypatch, lexigraft):
    monkeypatch.chdir(tmp_path)
    answer = lexigraft("data", "simulate", "--out", "log.tsv", "--lines", "50", "--truth", "a/" * 1500 + "a")
    assert answer.status == 2 and answer.stderr.count("error: ") == 1 and "too long" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_file_in_the_way_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        make_folders(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_folders(tmp_path / "file/below")
