"""Folders that are to hold something, made with all above them."""

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
