"""Large files are read once, and again when anything happened to them that the file system knows of."""

import os
import subprocess
import sys
import time

import pytest

from lexigraft.core import artifact, known_checksums
from lexigraft.core.artifact import Manifest, open_artifact, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.known_checksums import LARGE, MOST, reading_every_byte

MADE = Manifest("thing", 1, {})
OTHER = "does not match its checksum"


@pytest.fixture(autouse=True)
def remembering(monkeypatch):
    monkeypatch.delenv("LEXIGRAFT_CHECKSUMS")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lexigraft" / "checksums"


@pytest.fixture
def hashed(monkeypatch):
    """The names of the files that were read in whole."""
    names, usual = [], artifact.hash_file
    monkeypatch.setattr(artifact, "hash_file", lambda path: (names.append(path.name), usual(path))[1])
    return names


@pytest.fixture
def later(monkeypatch):
    """A clock that runs three seconds ahead: what was just written is as old as that."""
    usual = time.time_ns
    monkeypatch.setattr(known_checksums.time, "time_ns", lambda: usual() + 3_000_000_000)


@pytest.fixture
def thing(tmp_path):
    with write_artifact(tmp_path / "made", MADE) as folder:
        (folder / "large").write_bytes(b"a" * LARGE)
        (folder / "small").write_bytes(b"a" * (LARGE - 1))
    return tmp_path / "made"


def opens(thing):
    open_artifact(thing, "thing", 1)


def test_a_large_file_is_read_once_and_a_small_one_always(thing, cache, later, hashed):
    hashed.clear()
    opens(thing)
    opens(thing)
    assert hashed == ["large", "small", "small"]
    assert len(list(cache.iterdir())) == 1


def test_a_young_file_is_not_remembered(thing, cache, hashed):
    hashed.clear()
    opens(thing)
    opens(thing)
    assert hashed == ["large", "small"] * 2
    assert not cache.exists()


def test_a_file_from_the_future_is_not_remembered(thing, cache, later):
    os.utime(thing / "large", ns=(time.time_ns() + 10**12,) * 2)
    opens(thing)
    assert not cache.exists()


def test_a_changed_byte_is_found(thing, cache, later):
    opens(thing)
    with (thing / "large").open("r+b") as file:
        file.write(b"b")
    with pytest.raises(ArtifactError, match=OTHER):
        opens(thing)


def test_a_changed_byte_is_found_though_the_time_was_put_back(thing, cache, later):
    """Anybody can set when bytes changed, but setting it changes when the entry changed."""
    opens(thing)
    before = (thing / "large").stat()
    with (thing / "large").open("r+b") as file:
        file.write(b"b")
    os.utime(thing / "large", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (thing / "large").stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(ArtifactError, match=OTHER):
        opens(thing)


def test_a_replaced_file_is_found(thing, cache, later):
    opens(thing)
    before = (thing / "large").stat()
    (thing / "other").write_bytes(b"b" * LARGE)
    os.utime(thing / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
    (thing / "other").replace(thing / "large")
    with pytest.raises(ArtifactError, match=OTHER):
        opens(thing)


def test_what_the_file_system_does_not_know_is_found_by_reading_every_byte(thing, cache, later, monkeypatch):
    """A disk that loses a bit tells nobody: as if all that the system says of the file were as before."""
    opens(thing)
    before = (thing / "large").stat()
    (thing / "large").write_bytes(b"b" * LARGE)
    monkeypatch.setattr(known_checksums, "_facts", lambda found: _said(before) if found.st_size == LARGE else ())
    opens(thing)
    with reading_every_byte(), pytest.raises(ArtifactError, match=OTHER):
        opens(thing)
    monkeypatch.setenv("LEXIGRAFT_CHECKSUMS", "always")
    with pytest.raises(ArtifactError, match=OTHER):
        opens(thing)


def _said(found):
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def test_a_file_that_changes_while_it_is_read_is_not_remembered(thing, cache, later, monkeypatch):
    usual = artifact.hash_file

    def read(path):
        found = usual(path)
        os.utime(path)
        return found

    monkeypatch.setattr(artifact, "hash_file", read)
    opens(thing)
    assert not cache.exists() or not list(cache.iterdir())


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(thing, tmp_path, monkeypatch, later, hashed):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    hashed.clear()
    opens(thing)
    opens(thing)
    assert hashed == ["large", "small"] * 2


def test_nobodys_home(thing, monkeypatch, later, hashed):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(known_checksums.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    hashed.clear()
    opens(thing)
    opens(thing)
    assert hashed == ["large", "small"] * 2


def test_the_oldest_are_forgotten(thing, cache, later):
    cache.mkdir(parents=True)
    for number in range(MOST):
        (cache / str(number)).touch()
        os.utime(cache / str(number), (number, number))
    opens(thing)
    left = {file.name for file in cache.iterdir()}
    assert len(left) == MOST // 2
    assert str(MOST - 1) in left
    assert "0" not in left


OPEN = """
import sys, time
from pathlib import Path
from lexigraft.core import known_checksums
from lexigraft.core.artifact import open_artifact
usual = time.time_ns
known_checksums.time.time_ns = lambda: usual() + 3_000_000_000
for _ in range(20):
    open_artifact(Path(sys.argv[1]), "thing", 1)
"""


def test_processes_share_what_they_know(thing, cache):
    both = [subprocess.Popen([sys.executable, "-c", OPEN, str(thing)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(list(cache.iterdir())) == 1
