"""Two folders exchange their names in one step, so that there is no moment at which one of the names leads nowhere.

Linux has renameat2 with RENAME_EXCHANGE for this, macOS renamex_np with RENAME_SWAP. Other systems have nothing of the
kind, and some file systems (over a network, for example) refuse it: then the caller must do with two renames.
"""

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_LINUX_EXCHANGE, _MACOS_SWAP = 2, 2
_FROM_HERE = -100  # AT_FDCWD: paths that are not absolute start at the working folder
_NOT_TO_BE_HAD = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EXDEV)


def exchange(one: Path, other: Path) -> bool:
    """Let the folders at `one` and `other` exchange their names at once. False, and nothing was changed, where the
    system or the file system cannot; any other failure raises `OSError`."""
    library = _library()
    if library is None:
        return False
    import ctypes

    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = library.renamex_np(*names, _MACOS_SWAP)
    else:
        failed = library.renameat2(_FROM_HERE, names[0], _FROM_HERE, names[1], _LINUX_EXCHANGE)
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _NOT_TO_BE_HAD:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _library() -> Any:
    """The C library, where it can exchange names; None elsewhere. ctypes is loaded by who writes, never by a search."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    name = "renamex_np" if sys.platform == "darwin" else "renameat2"
    return library if hasattr(library, name) else None  # C libraries of before 2018 have no renameat2
