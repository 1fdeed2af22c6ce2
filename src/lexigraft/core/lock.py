"""One writer at a time: an advisory lock on a folder, released by the kernel when the process ends."""

import fcntl
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.os_errors import naming

LOCK = ".lock"  # the name of the file

log = logging.getLogger(__name__)


def lock_file(folder: Path) -> Path:
    """It stays when the lock is released: where there is one, something of ours has written."""
    return folder / LOCK


@contextmanager
def writer_lock(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold `folder/.lock`. While another process does, raise `ArtifactError` at once, or `wait` until it is free."""
    with _taken(folder, wait) as file:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        with naming(folder):
            yield


@contextmanager
def working_folder(folder: Path, wait: bool = False) -> Iterator[None]:
    """The same for a folder of half-done work, which is removed at the end where nothing but the lock is in it."""
    with writer_lock(folder, wait):
        try:
            yield
        finally:
            if folder.is_dir() and all(file == lock_file(folder) for file in folder.iterdir()):
                shutil.rmtree(folder)


def _taken(folder: Path, wait: bool) -> TextIO:
    """The locked file. Its last holder may have removed it, and then what was taken guards nothing: again."""
    while True:
        make_folders(folder)
        with suppress(FileNotFoundError), ExitStack() as opened:
            file = opened.enter_context(lock_file(folder).open("a+"))
            _take(file, folder, wait)
            if os.path.samestat(os.fstat(file.fileno()), lock_file(folder).stat()):
                opened.pop_all()
                return file


def _take(file: TextIO, folder: Path, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "?"
        if not wait:
            raise ArtifactError(
                f"process {holder} is writing to {folder}; wait for it or give another folder"
            ) from None
        log.info("waiting for process %s, which is writing to %s", holder, folder)
        fcntl.flock(file, fcntl.LOCK_EX)
