"""Files as such: what is read must be one, and what is written takes its name whole, unless something else has it.

A pipe that nobody writes to would be waited for without end. A device such as /dev/null must be written to, never be
replaced by a file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.os_errors import naming


def read_plain_file(path: Path) -> bytes:
    """The bytes of the file at `path`; raises `OSError` for anything else, at once."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        require_plain_file(path, os.fstat(descriptor))
        return file.read()


def require_plain_file(path: Path, found: os.stat_result) -> None:
    """Raise `OSError` where the system says that `path` is no file but a folder, a pipe or a device."""
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))


@contextmanager
def written_aside(out: Path) -> Iterator[Path]:
    """Where to write what `out` is to hold: a file beside it, which takes its name when the block ends well and is
    removed when it does not. A device or a pipe at `out` is written to as it stands. What the system refuses names
    `out`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.exists() and not out.is_file() and not out.is_dir():
        with naming(out):
            yield out
        return
    aside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with naming(out):
            yield aside
            aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
