"""Files as such: what is read must be one, and what is written takes its name whole, unless something else has it.

A pipe that nobody writes to would be waited for without end. A device such as /dev/null must be written to, never be
replaced by a file. Only small files that a user names, such as settings, may also come through a pipe: shells write
`--config <(...)` as one.
"""

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.folders import make_folders
from lexigraft.core.os_errors import naming


def read_plain_file(path: Path) -> bytes:
    """The bytes of the file at `path`; raises `OSError` for anything else, at once."""
    with _opened(path) as file:
        require_plain_file(path, os.fstat(file.fileno()))
        return file.read()


def _opened(path: Path) -> io.FileIO:
    """The file at `path`, opened without waiting for anybody. A folder is refused by its name here: Python would call
    it by the number of its descriptor."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _is_folder(path)
    return io.FileIO(descriptor)


def _is_folder(path: Path) -> IsADirectoryError:
    return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def require_plain_file(path: Path, found: os.stat_result) -> None:
    """Raise `OSError` where the system says that `path` is no file but a folder, a pipe or a device."""
    if stat.S_ISDIR(found.st_mode):
        raise _is_folder(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))


def read_small_file(path: Path, most: int) -> bytes:
    """The bytes of a file that a user names, at most `most` of them: a plain file, a device such as /dev/null, or a
    pipe that somebody writes to, which is read to its end. Raises `OSError` at once for a terminal, a folder, and a
    pipe without a writer."""
    with _opened(path) as file:
        descriptor = file.fileno()
        found = os.fstat(descriptor)
        if os.isatty(descriptor) or not (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)):
            require_plain_file(path, found)
        if not stat.S_ISFIFO(found.st_mode):
            return _read_up_to(file, most)
        key = found.st_dev, found.st_ino
        if key not in _through_pipes:
            first = file.read(most)  # None: there is a writer, who has not written yet; nothing: there is none
            if first == b"":
                raise OSError(errno.EINVAL, "it is a pipe that nobody writes to", str(path))
            os.set_blocking(descriptor, True)
            _through_pipes[key] = (first or b"") + _read_up_to(file, most - len(first or b""))
        return _through_pipes[key]


_through_pipes: dict[tuple[int, int], bytes] = {}  # what came through pipes: settings are asked for more than once


def _read_up_to(file: io.RawIOBase, most: int) -> bytes:
    """All that comes, or the first `most` bytes of it: a device may have no end."""
    parts = []
    while most > 0 and (part := file.read(most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


@contextmanager
def written_aside(out: Path) -> Iterator[Path]:
    """Where to write what `out` is to hold: a file beside it, which takes its name when the block ends well and is
    removed when it does not. A device or a pipe at `out` is written to as it stands. What the system refuses names
    `out`."""
    make_folders(out.parent)
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
