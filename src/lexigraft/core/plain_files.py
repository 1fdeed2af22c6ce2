"""Files as such: what is read must be one, and what is written takes its name whole, unless something else has it.

A pipe that nobody writes to would be waited for without end. A device such as /dev/null must be written to, never be
replaced by a file. Only small files that a user names, such as settings, may also come through a pipe: shells write
`--config <(...)` as one.
"""

import errno
import glob
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.bounds import LARGEST_WHOLE
from lexigraft.core.errors import ArtifactError
from lexigraft.core.folders import make_folders
from lexigraft.core.os_errors import naming


def read_plain_file(path: Path, most: int = LARGEST_WHOLE) -> bytes:
    """The bytes of the file at `path`; raises `OSError` for anything else, and for a file of more than `most` bytes, at
    once: a file that is a hole takes no place on a disk, and all memory when it is read."""
    with _opened(path) as file:
        require_plain_file(path, found := os.fstat(file.fileno()))
        require_size(path, found.st_size, most)
        return _read_up_to(file, most)


def require_size(path: Path, n_bytes: int, most: int = LARGEST_WHOLE) -> None:
    """Raise `ArtifactError` where the file at `path`, of `n_bytes`, is larger than any file of its kind."""
    if n_bytes > most:
        raise ArtifactError(
            f"{path} is larger than {in_units(most)}, which no such file is: it was damaged or made by another program"
        )


def in_units(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MiB" if n_bytes >= 1 << 20 else f"{n_bytes:,} bytes"


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


def asides_of(out: Path) -> list[Path]:
    """What writers of the file at `out` that were killed have left beside it, and what one writes at this moment."""
    found = out.parent.glob(f".{glob.escape(out.name)}.*")
    return sorted(path for path in found if path.suffix[1:].isdecimal() and path.is_file())


def replace_for_good(out: Path, content: bytes) -> None:
    """Give `out` this content, so that no reader and no loss of power ever finds half of it."""
    with written_aside(out) as aside:
        aside.write_bytes(content)
        sync(aside)
    sync(out.parent)


def sync(path: Path) -> None:
    """Return when what was written to the file or folder at `path` is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
