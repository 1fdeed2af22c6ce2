"""One writer at a time: an advisory lock on a run folder, released by the kernel when the process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.errors import ArtifactError


def lock_file(folder: Path) -> Path:
    """It stays when the lock is released: where there is one, something of ours has written."""
    return folder / ".lock"


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Hold `folder/.lock`; raise `ArtifactError` at once when another process holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise ArtifactError(
                f"process {file.read().strip() or '?'} is writing to {folder}; wait for it or give another folder"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
