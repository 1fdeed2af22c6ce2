"""A server that is told to stop."""

import asyncio
import signal
import subprocess
import sys

import pytest
import uvicorn

from lexigraft.cli.serve import start_server
from lexigraft.serve.access import access_for
from lexigraft.serve.catalogue import Shelf
from lexigraft.serve.limits import Limits
from lexigraft.serve.running import _Server
from lexigraft.serve.service import STOPPING, Service
from tests.serving import InProcess


def test_a_stop_is_not_forgotten_when_the_systems_are_open(run):
    """They may be open just after it was asked for."""
    service = Service(access_for("127.0.0.1"))
    service.stop()
    service.begin(Shelf([run], 1))
    assert service.status == STOPPING
    service.close()


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_whoever_asks_twice_does_not_wait(which):
    service = Service(access_for("127.0.0.1"))
    server = _Server(uvicorn.Config(None), service)
    server.handle_exit(which, None)
    assert service.status == STOPPING and not server.should_exit and not server.force_exit
    server.handle_exit(which, None)
    assert server.should_exit and server.force_exit
    service.close()


def test_what_is_given_up_at_the_end_is_no_fault(run, monkeypatch, caplog):
    def give_up(*_):
        raise asyncio.CancelledError

    server = InProcess([run])
    monkeypatch.setattr(server.service.work, "do", give_up)
    server.service.stop()
    assert server.refused(503, "GET", "/systems") == "stopping" and not caplog.text
    server.service.close()


def test_a_stop_before_anything_is_imported(monkeypatch):
    former = signal.getsignal(signal.SIGTERM)
    monkeypatch.setitem(__import__("sys").modules, "lexigraft.serve.access", None)
    try:
        with pytest.raises(ImportError):
            start_server([], ("127.0.0.1", (), (), None), 0, Limits())
        with pytest.raises(SystemExit, match="0"):
            signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
    finally:
        signal.signal(signal.SIGTERM, former)


AT_ONCE = """
import asyncio, os, signal, sys, time
from lexigraft.serve import running
from lexigraft.serve.access import access_for
from lexigraft.serve.service import Service

running.Shelf = lambda *_: time.sleep(60)  # systems that take long to open
wait = asyncio.wait

def interrupted(*given, **named):
    os.kill(os.getpid(), signal.SIGTERM)
    return wait(*given, **named)

asyncio.wait = interrupted  # which is called before the server has taken its first step
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # as before anything is served
running.run_server(Service(access_for("127.0.0.1")), [], running.bind("127.0.0.1", 0), lambda shelf: None)
"""


def test_a_stop_before_the_server_has_begun_ends_it():
    ended = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0 and not ended.stderr
