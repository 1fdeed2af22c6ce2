"""Signs of life: who beats is not lost, who is silent for too long is, who said goodbye never."""

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
