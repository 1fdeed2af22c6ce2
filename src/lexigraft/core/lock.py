"""One writer at a time: an advisory lock on a folder, released by the kernel when the process ends."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.errors import ArtifactError

log = logging.getLogger(__name__)


def lock_file(folder: Path) -> Path:
    """It stays when the lock is released: where there is one, something of ours has written."""
    return folder / ".lock"


@contextmanager
def writer_lock(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold `folder/.lock`. While another process does, raise `ArtifactError` at once, or `wait` until it is free."""
    folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder).open("a+") as file:
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
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
