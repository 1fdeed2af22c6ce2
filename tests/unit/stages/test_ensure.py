"""Keep or make: what is as wanted and whole is not made again, all else is."""

import pytest

from lexigraft.core.artifact import Manifest, read_manifest
from lexigraft.core.errors import ArtifactError
from lexigraft.stages.ensure import Makers, keep_or_make


class Maker:
    """Counts how often it is called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, folder):
        self.calls += 1
        (folder / "number.txt").write_text(str(self.calls))


@pytest.mark.parametrize("makers", list(Makers))
def test_made_once(makers, tmp_path):
    make, wanted = Maker(), Manifest("thing", 1, {"a": 1})
    first = keep_or_make(tmp_path / "thing", wanted, make, makers)
    again = keep_or_make(tmp_path / "thing", wanted, make, makers)
    assert (first.was_there, again.was_there, make.calls) == (False, True, 1)
    assert first.manifest == again.manifest == read_manifest(tmp_path / "thing")


@pytest.mark.parametrize("change", ["recipe", "damage", "anew"])
def test_made_again(change, tmp_path):
    make, path = Maker(), tmp_path / "thing"
    keep_or_make(path, Manifest("thing", 1, {"a": 1}), make)
    if change == "damage":
        (path / "number.txt").write_text("!")
    wanted = Manifest("thing", 1, {"a": 2 if change == "recipe" else 1})
    assert not keep_or_make(path, wanted, make, anew=change == "anew").was_there
    assert (path / "number.txt").read_text() == "2"


def test_what_fails_leaves_what_was_there(tmp_path):
    make, path = Maker(), tmp_path / "thing"
    keep_or_make(path, Manifest("thing", 1, {"a": 1}), make)

    def fail(folder):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        keep_or_make(path, Manifest("thing", 1, {"a": 2}), fail)
    assert (path / "number.txt").read_text() == "1"


def test_others_wait_for_the_leader_and_keep_nothing(tmp_path, monkeypatch):
    """One that is not the leader makes only what takes all, and not at the place itself."""
    make, path, wanted = Maker(), tmp_path / "thing", Manifest("thing", 1, {})
    waits = []

    def barrier():
        waits.append(len(waits))
        if len(waits) == 3:  # by then the leader, elsewhere, has written it
            monkeypatch.setattr("lexigraft.stages.ensure.is_leader", lambda: True)
            keep_or_make(path, wanted, Maker(), Makers.ALONE)

    monkeypatch.setattr("lexigraft.stages.ensure.is_leader", lambda: False)
    monkeypatch.setattr("lexigraft.stages.ensure.barrier", barrier)
    assert not keep_or_make(path, wanted, make, Makers.ALL).was_there
    assert (len(waits), make.calls) == (3, 1)
    assert (path / "number.txt").read_text() == "1"


def test_what_the_leader_made_must_be_there_for_the_others(tmp_path, monkeypatch):
    """Two machines with a folder each: the second says so, instead of waiting or going on without."""
    monkeypatch.setattr("lexigraft.stages.ensure.SECONDS_UNTIL_SEEN", 0.3)
    monkeypatch.setattr("lexigraft.stages.ensure.barrier", lambda: None)
    monkeypatch.setattr("lexigraft.stages.ensure._leader_has", lambda found: True)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(ArtifactError, match=r"not there for process 1.*an --out that they share"):
        keep_or_make(tmp_path / "thing", Manifest("thing", 1, {"a": 1}), Maker(), Makers.LEADER)


def test_what_another_machine_sees_later_is_waited_for(tmp_path, monkeypatch):
    path, wanted = tmp_path / "thing", Manifest("thing", 1, {"a": 1})
    keep_or_make(tmp_path / "elsewhere", wanted, Maker())
    monkeypatch.setattr("lexigraft.stages.ensure.barrier", lambda: None)
    monkeypatch.setattr("lexigraft.stages.ensure._leader_has", lambda found: True)
    monkeypatch.setattr("lexigraft.stages.ensure.time.sleep", lambda _: (tmp_path / "elsewhere").rename(path))
    make = Maker()
    assert keep_or_make(path, wanted, make, Makers.LEADER).was_there
    assert make.calls == 0
