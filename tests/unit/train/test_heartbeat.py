"""Signs of life: who beats is not lost, who is silent for too long is, who said goodbye never."""

import subprocess
import sys
import threading
import time

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.train.heartbeat import GOODBYE, Heartbeat, silence_allowed


class Shelf:
    """A store as torch's, in memory; one that is `broken` answers as a store whose machine is gone."""

    def __init__(self):
        self.values, self.broken = {}, False

    def _answer(self):
        if self.broken:
            raise RuntimeError("Broken pipe")

    def set(self, key, value):
        self._answer()
        self.values[key] = value.encode()

    def get(self, key):
        self._answer()
        return self.values[key]

    def check(self, keys):
        self._answer()
        return all(key in self.values for key in keys)


class Clock:
    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


@pytest.fixture
def world():
    store, clock = Shelf(), Clock()
    return store, clock, [Heartbeat(store, rank, 3, 60, clock) for rank in range(3)]


def test_nobody_is_lost_while_all_beat(world):
    _, clock, hearts = world
    for _ in range(20):
        clock.time += 30
        for heart in hearts:
            heart.exchange()
        for heart in hearts:  # each looks before the next beat, so that it has seen the latest of all
            heart.exchange()
        assert [heart.lost() for heart in hearts] == ["", "", ""]


def test_the_silent_one_is_named_after_the_time_that_is_allowed(world):
    _, clock, hearts = world
    for _ in range(3):  # process 2 never begins
        clock.time += 20
        for heart in [*hearts[:2], *hearts[:2]]:
            heart.exchange()
    assert hearts[0].lost() == ""  # 60 seconds exactly
    clock.time += 1
    for heart in [*hearts[:2], *hearts[:2]]:
        heart.exchange()
    assert [heart.lost() for heart in hearts[:2]] == ["process 2", "process 2"]


def test_one_that_said_goodbye_is_not_missed(world):
    store, clock, hearts = world
    for heart in hearts:
        heart.exchange()
    hearts[1].stop()
    assert GOODBYE in store.values.values()
    hearts[0].exchange()
    hearts[2].exchange()
    clock.time += 50
    hearts[2].exchange()
    hearts[0].exchange()
    clock.time += 50
    hearts[2].exchange()
    hearts[0].exchange()
    assert hearts[0].lost() == ""


def test_without_the_store_the_machine_that_holds_it_is_lost(world):
    store, clock, hearts = world
    hearts[1].exchange()
    store.broken = True
    clock.time += 61
    with pytest.raises(RuntimeError):
        hearts[1].exchange()
    assert hearts[1].lost() == "the machine of process 0"
    hearts[1].stop()  # a goodbye that nobody hears is no error


@pytest.mark.parametrize("given", ["", "soon", "0", "-1", "nan", "inf"])
def test_a_time_that_is_none_is_refused(given, monkeypatch):
    monkeypatch.setenv("LEXIGRAFT_SILENCE", given)
    with pytest.raises(SettingError, match="LEXIGRAFT_SILENCE"):
        silence_allowed()


def test_the_time_that_is_allowed(monkeypatch):
    monkeypatch.delenv("LEXIGRAFT_SILENCE", raising=False)
    assert silence_allowed() == 300
    monkeypatch.setenv("LEXIGRAFT_SILENCE", "20")
    assert silence_allowed() == 20


class SlowShelf(Shelf):
    """A store that takes its time to answer. `asked`: somebody waits for it now."""

    def __init__(self):
        super().__init__()
        self.asked, self.n_asking = threading.Event(), 0

    def _answer(self):
        self.n_asking += 1
        self.asked.set()
        time.sleep(0.2)
        self.n_asking -= 1


def test_who_stops_waits_for_what_the_store_was_asked():
    store = SlowShelf()
    heart = Heartbeat(store, 0, 2, 60)
    heart._between = 1e-3
    heart.start()
    assert store.asked.wait(10)
    heart.stop()
    assert store.n_asking == 0 and store.values["lexigraft/alive/0"] == GOODBYE
    assert not any(thread.is_alive() for thread in heart._threads)


ENDING = """
import atexit, time
import torch.distributed as dist
from lexigraft.train.heartbeat import Heartbeat

server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
store = dist.TCPStore("127.0.0.1", server.port, is_master=False, wait_for_workers=False)
store.set("lexigraft/alive/1", "1")
heart = Heartbeat(store, 0, 2, 60.0)
heart._between = 1e-5  # asks all the time
heart.start()
atexit.register(heart.stop)
time.sleep(0.1)
"""


@pytest.mark.integration
def test_a_process_that_ends_while_it_beats_ends_well():
    """Without waiting, half of these aborted."""
    running = [subprocess.Popen([sys.executable, "-c", ENDING], stderr=subprocess.PIPE) for _ in range(8)]
    ended = [(process.communicate()[1].decode(), process.returncode) for process in running]
    assert [status for _, status in ended] == [0] * 8, ended
