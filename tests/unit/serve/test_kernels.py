"""Kernels that are compiled aside: by a process of its own, once, and what becomes of it when the server ends."""

import subprocess
import sys

import pytest

from lexigraft.core import compiled as kernels_of
from lexigraft.serve import kernels


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lexigraft" / "kernels"


def runs_instead(monkeypatch, code):
    """What would compile, replaced by a program; the list that is returned gets its processes."""
    started, popen = [], subprocess.Popen

    def start(command, **options):
        assert command[1:] == ["-P", "-m", "lexigraft.serve.kernels", "index"]
        started.append(popen([sys.executable, "-c", code], **options))
        return started[-1]

    monkeypatch.setattr(kernels.subprocess, "Popen", start)
    return started


def test_once_for_an_installation(cache, monkeypatch):
    started = runs_instead(monkeypatch, "import time; time.sleep(0.2)")
    for _ in kernels.compiled_aside(["index"]):
        assert kernels_of._left == 1
    assert kernels_of._left == 0 and len(started) == len(list(cache.iterdir())) == 1
    assert list(kernels.compiled_aside(["index"])) == [] and len(started) == 1


def test_what_failed_is_tried_by_the_next_server(cache, monkeypatch):
    started = runs_instead(monkeypatch, "raise SystemExit(1)")
    for number in (1, 2):
        list(kernels.compiled_aside(["index"]))
        assert len(started) == number and not cache.exists()


def test_it_ends_with_the_server(cache, monkeypatch):
    started = runs_instead(monkeypatch, "import time; time.sleep(60)")
    waiting = kernels.compiled_aside(["index"])
    next(waiting)
    waiting.close()
    assert started[0].poll() is not None and kernels_of._left == 0 and not cache.exists()


def test_nothing_is_compiled_for_systems_without_terms(cache):
    assert list(kernels.compiled_aside([])) == []


def test_what_it_does_is_a_search_of_every_index(run, monkeypatch):
    politeness, warmed = [], []
    monkeypatch.setattr(kernels.os, "nice", politeness.append)
    monkeypatch.setattr(kernels, "warm", lambda state: warmed.append(state.place.index))
    index = run / "judged/bm25/index"
    kernels.main([str(index)])
    assert politeness == [kernels.POLITENESS] and warmed == [index]


def test_where_no_process_can_be_started_the_server_goes_on(cache, monkeypatch):
    def fail(*_, **__):
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(kernels.subprocess, "Popen", fail)
    assert list(kernels.compiled_aside(["index"])) == [] and kernels_of._left == 0 and not cache.exists()
