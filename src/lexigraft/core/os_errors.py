"""What the operating system refuses, in one line: which path, what happened, and what helps.

Python's own words name no path where a write fails, and "build it again" is no help where a disk is full. `naming` adds
the path where files are written; `in_words` is what the command line prints; `remedy_for` is the advice alone.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexigraft.core.errors import LexigraftError

# How libraries that write by themselves say that nothing more fits.
_OF_NUMPY = "requested and"  # so many numbers were to be written, and fewer were
_FULL = ("No space left on device", "os error 28", "file write failed", "unexpected pos")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What the system refuses to the lines within names `path` where it names nothing; errors of libraries that could
    not write become the system's."""
    try:
        yield
    except LexigraftError:
        raise
    except OSError as error:
        if error.errno is None and (_OF_NUMPY in str(error) or _says_full(error)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    except Exception as error:  # torch's and safetensors' have kinds of their own
        if _says_full(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path)) from error
        raise


def _says_full(error: Exception) -> bool:
    return any(sign in str(error) for sign in _FULL)


def in_words(error: OSError) -> str:
    """An error of the system as one line, with its path and what helps."""
    said = error.strerror or str(error) or type(error).__name__
    place = f"{error.filename}: " if error.filename else ""
    remedy = remedy_for(error)
    return f"{place}{said}{f'; {remedy}' if remedy else ''}"


def remedy_for(error: OSError, otherwise: str = "") -> str:
    """What helps against an error of the system; `otherwise` where nothing particular is known."""
    place = str(error.filename or "")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"free space {_on_file_system(place)}, and give the same command again"
    helps = {
        errno.EMFILE: "raise the number of files that a process may open, such as: ulimit -n 4096",
        errno.ENFILE: "close other programs, or raise the system's number of open files (fs.file-max)",
        errno.EFBIG: "raise the largest size of a file: ulimit -f unlimited",
        errno.EROFS: "give a folder on a file system that can be written",
        errno.ENAMETOOLONG: "give a shorter name or path",
        errno.EIO: "the disk or its connection failed: check it, and restore what lies there from a backup",
        errno.ELOOP: "a symbolic link leads back to itself: remove it",
        errno.EACCES: "allow this user to use it, or give another path",
        errno.EPERM: "allow this user to use it, or give another path",
        errno.ENOMEM: "close other programs, or raise the limit of memory (ulimit -v)",
    }
    return helps.get(error.errno or 0, otherwise)


def is_of_the_machine(error: OSError) -> bool:
    """Whether the file may be as it should, and only could not be read now: then nothing is to be built again."""
    return error.errno in (errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOMEM)


def _on_file_system(place: str) -> str:
    """Which file system that is, where it can be told."""
    if not place:
        return "on the file system that is written to"
    folder = Path(place).absolute()
    try:
        while not folder.exists() or (not folder.is_mount() and folder.parent != folder):
            folder = folder.parent
    except OSError:
        return f"where {place} lies"
    return f"on the file system {folder}"
