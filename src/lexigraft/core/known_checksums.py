"""Which large files were read in whole and are unchanged since, so that opening an artifact reads each byte once.

What is remembered lies outside of the artifacts, in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache): one empty
file for each, whose name is made of the checksum and of what the file system says of the file: device, inode, size,
and when its bytes and its entry last changed, in nanoseconds. A program that writes to a file or replaces it changes
one of these, so the file is read again. Bytes that change without the file system knowing, as on a bad disk, are found
only by `read_every_byte`, which `--verify` calls, or with LEXIGRAFT_CHECKSUMS=always.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from lexigraft.core.folders import cache_folder

LARGE = 1 << 20  # bytes; what is smaller is read as soon as looked up
SETTLED = 2_000_000_000  # nanoseconds: within these, a second write might leave the times as they are
MOST = 4096  # files that are remembered
WHEN = "LEXIGRAFT_CHECKSUMS"  # "always" in the environment: nothing is remembered, every byte is read

_reading_all = 0  # how many want every byte to be read


def read_every_byte() -> None:
    """From here on this process believes nothing that it or another one remembered."""
    global _reading_all
    _reading_all += 1


def is_reading_all() -> bool:
    """Whether somebody wants every byte to be read now."""
    return _reading_all > 0


@contextmanager
def reading_every_byte() -> Iterator[None]:
    """`read_every_byte` for a while."""
    global _reading_all
    _reading_all += 1  # a count: blocks of several threads may overlap
    try:
        yield
    finally:
        _reading_all -= 1


def is_known(file: os.stat_result, checksum: str) -> bool:
    """Whether the file of which the system says `file` was found to have this checksum."""
    note = _note(file, checksum)
    return note is not None and os.path.exists(note)  # noqa: PTH110  # False where it cannot be looked at


def remember(path: Path, before: os.stat_result, checksum: str) -> None:
    """Remember that the file at `path`, of which the system said `before` before it was read, has this checksum. Not
    one that changed meanwhile or a moment ago, and nothing where the cache folder cannot be written."""
    note = _note(before, checksum)
    if note is None:
        return
    with suppress(OSError):
        settled = time.time_ns() - SETTLED >= max(before.st_mtime_ns, before.st_ctime_ns)
        if settled and _facts(path.stat()) == _facts(before):
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.touch()
            _forget_oldest(note.parent)


def _note(file: os.stat_result, checksum: str) -> Path | None:
    """The file that says so; None for what is not remembered."""
    if _reading_all or file.st_size < LARGE or os.environ.get(WHEN) == "always":
        return None
    folder = cache_folder("checksums")
    return None if folder is None else folder / sha256(f"{checksum} {_facts(file)}".encode()).hexdigest()


def _facts(file: os.stat_result) -> tuple[int, ...]:
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns


def _forget_oldest(folder: Path) -> None:
    """Keep the folder small: where there are too many, the older half goes. Another process may do the same."""
    notes = list(folder.iterdir())
    if len(notes) > MOST:
        for _, note in sorted(_with_times(notes))[: len(notes) - MOST // 2]:
            note.unlink(missing_ok=True)


def _with_times(notes: Iterable[Path]) -> Iterator[tuple[int, Path]]:
    for note in notes:
        with suppress(FileNotFoundError):
            yield note.stat().st_mtime_ns, note
