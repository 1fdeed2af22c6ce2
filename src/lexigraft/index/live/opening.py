"""How a live index is opened to be written to: one that is there, or one that begins; one writer at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.errors import ArtifactError
from lexigraft.core.lock import writer_lock
from lexigraft.index.live.folder import (
    abandon,
    begin,
    make_folders,
    require_free,
    sweep,
)
from lexigraft.index.live.state import is_live, read_state
from lexigraft.index.live.writer import LiveWriter


@contextmanager
def open_writer(folder: Path, wait: bool = False) -> Iterator[LiveWriter]:
    """The writer of the live index at `folder`, alone until the block ends. While there is another, raises
    `ArtifactError` at once, or waits."""
    read_state(folder)  # before the lock, which would leave its file in a folder of somebody's
    with writer_lock(folder, wait):
        yield from _continued(folder)


@contextmanager
def create_live(folder: Path, wait: bool = False) -> Iterator[LiveWriter]:
    """The writer of a live index that begins at `folder`, which must be free, empty or left by a killed call of this.
    There is no index until something is added, and nothing stays where nothing was."""
    require_free(folder)
    was_there = folder.exists()
    with writer_lock(folder, wait):
        require_free(folder)
        yield from _begun(folder, was_there)


@contextmanager
def open_or_begin(folder: Path, wait: bool = False) -> Iterator[LiveWriter]:
    """`open_writer` where there is a live index when it is this one's turn, else `create_live`: who waited may find
    that another one has begun it."""
    try:
        require_free(folder)
    except ArtifactError:
        if not is_live(folder):
            raise
    was_there = folder.exists()
    with writer_lock(folder, wait):
        if is_live(folder):
            yield from _continued(folder)
        else:
            require_free(folder)
            yield from _begun(folder, was_there)


def _continued(folder: Path) -> Iterator[LiveWriter]:
    read_state(folder)
    make_folders(folder)
    yield from _writing(folder)


def _begun(folder: Path, was_there: bool) -> Iterator[LiveWriter]:
    try:
        begin(folder)
        yield from _writing(folder)
    finally:
        if not is_live(folder):
            abandon(folder, was_there)


def _writing(folder: Path) -> Iterator[LiveWriter]:
    sweep(folder)
    try:
        yield LiveWriter(folder)
    finally:
        sweep(folder)
