"""What is read must be a file, and what is written takes its name whole; a device is written to and stays one."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lexigraft.core.arrays import open_array
from lexigraft.core.bounds import LARGEST_WHOLE
from lexigraft.core.errors import ArtifactError
from lexigraft.core.manifest import MANIFEST, read_manifest, require_manifest
from lexigraft.core.plain_files import read_plain_file, read_small_file, written_aside
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import read_object


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / MANIFEST
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a plain file"):
        read_plain_file(pipe)
    assert read_manifest(tmp_path) is None
    for read in (lambda: require_manifest(tmp_path), lambda: read_sealed(pipe), lambda: open_array(pipe, np.int64)):
        with pytest.raises(ArtifactError, match="not a plain file"):
            read()
    with pytest.raises(IsADirectoryError):
        read_plain_file(tmp_path)


@pytest.mark.parametrize("read", [read_plain_file, lambda path: read_small_file(path, 100)])
def test_a_folder_is_called_by_its_name(tmp_path: Path, read: Callable[[Path], bytes]) -> None:
    """Not by the number of the descriptor that it was opened with."""
    with pytest.raises(IsADirectoryError) as refused:
        read(tmp_path)
    assert refused.value.filename == str(tmp_path)


def test_a_file_takes_its_name_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "deeper" / "run.trec"
    with written_aside(out) as aside:
        aside.write_text("new")
        assert not out.exists()
    assert out.read_text() == "new"
    with pytest.raises(KeyError), written_aside(out) as aside:
        aside.write_text("half")
        raise KeyError
    assert out.read_text() == "new" and list(out.parent.iterdir()) == [out]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device, and replace one")
def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    nothing = tmp_path / "null"
    os.mknod(nothing, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    with written_aside(nothing) as aside:
        assert aside == nothing
    assert stat.S_ISCHR(nothing.stat().st_mode)


def test_what_is_read_whole_is_no_hole(tmp_path: Path) -> None:
    """Its size is asked first: a file that takes no place on the disk can take all memory."""
    file = tmp_path / MANIFEST
    file.write_bytes(b"{}" + bytes(98))
    assert len(read_plain_file(file, most=100)) == 100
    with pytest.raises(ArtifactError, match="larger than 99 bytes"):
        read_plain_file(file, most=99)
    os.truncate(file, LARGEST_WHOLE + 1)
    readers: list[Callable[[], object]] = [
        lambda: require_manifest(tmp_path), lambda: read_sealed(file), lambda: read_object(file),
    ]  # fmt: skip
    for read in readers:
        with pytest.raises(ArtifactError, match=r"manifest\.json.* is larger than 64 MiB"):
            read()
    assert read_manifest(tmp_path) is None
