"""Folders that are to hold something, made with all above them; and where caches are kept."""

import errno
import os
from pathlib import Path

MOST_LEVELS = 255


def make_folders(folder: Path) -> None:
    """`folder`, and all above it that are absent. A name of more than MOST_LEVELS levels is refused: `Path.mkdir` calls
    itself once a level, and so does what removes folders."""
    if len(folder.parts) > MOST_LEVELS:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(folder))
    folder.mkdir(parents=True, exist_ok=True)


def cache_folder(name: str) -> Path | None:
    """Where this program may keep what it can make again: $XDG_CACHE_HOME/lexigraft/NAME, or below ~/.cache. None
    where there is no such place."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        base = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # nobody's home
        return None
    return base / "lexigraft" / name
