"""What a batch job does to one shard, whoever does it: exactly once, as an artifact of its own.

Any number of processes on any machines may make the same shard at the same time, because a machine that was given up
for lost may be at work still. Each makes it in a folder that only it knows. The first that is done gives its folder the
shard's name, which no second one can: a folder does not take the name of one that has files.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.manifest import recipe
from lexigraft.core.plain_files import sync

ATTEMPTS = ".attempts"  # the folder of those that nobody else knows


class ShardWork(Protocol):
    """A job. It travels to other processes and machines, so it holds paths and plain values."""

    @property
    def label(self) -> str:
        """What a progress bar calls it."""
        ...

    @property
    def folder(self) -> Path:
        """The shards' folder, which all machines share."""
        ...

    @property
    def sizes(self) -> list[int]:
        """How many documents each shard has."""
        ...

    def wanted(self, number: int) -> Manifest:
        """Of what a shard is made, and how."""
        ...

    def make(self, number: int, folder: Path) -> None:
        """Write the files of a shard into `folder`."""
        ...


def shard_path(work: ShardWork, number: int) -> Path:
    """Where a shard lies when it is done."""
    return work.folder / f"{number:05d}"


def is_made(work: ShardWork, number: int) -> bool:
    """Whether a shard is there and whole. Raises where it was made of something else, which nobody wants to lose."""
    path, wanted = shard_path(work, number), work.wanted(number)
    if not path.exists():
        return False
    found = read_manifest(path)
    if found is not None and not found.same_recipe(wanted):
        raise ArtifactError(
            f"{path} was made of other inputs ({_first_difference(found, wanted)}); remove {work.folder} to "
            "begin again, or give the inputs, the settings and the --shards of the first call"
        )
    try:
        open_artifact(path, wanted.kind, wanted.format_version)
    except ArtifactError:
        return False
    return True


def _first_difference(found: Manifest, wanted: Manifest) -> str:
    ours, theirs = recipe(wanted), recipe(found)
    for part in ("config", "parents"):
        for key in sorted({*ours[part], *theirs[part]}):
            if ours[part].get(key) != theirs[part].get(key):
                return f"{key}: {_short(theirs[part].get(key))} there, {_short(ours[part].get(key))} now"
    return "another kind"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:12]}…"


def make_shard(work: ShardWork, number: int) -> int:
    """Make a shard unless it is there; returns its number."""
    if not is_made(work, number):
        path, wanted = shard_path(work, number), work.wanted(number)
        with _attempt(work.folder) as own:
            with write_artifact(own / path.name, wanted) as folder:
                work.make(number, folder)
            if not _take_name(own / path.name, path) and not is_made(work, number):
                shutil.rmtree(path)  # it was damaged
                _take_name(own / path.name, path)
    return number


@contextmanager
def _attempt(folder: Path) -> Iterator[Path]:
    """A folder that nobody else knows. A kill leaves it; it goes with the job's folder."""
    own = folder / ATTEMPTS / uuid.uuid4().hex
    make_folders(own)
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _take_name(made: Path, path: Path) -> bool:
    """Whether the folder `made` is now at `path`: not where another one is."""
    try:
        os.rename(made, path)  # noqa: PTH104  # `Path.rename` says the same, and this one says its errors
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    sync(path.parent)
    return True
