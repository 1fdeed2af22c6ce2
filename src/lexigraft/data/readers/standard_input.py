"""Standard input as a file: a collection is read several times, and a pipe can be read once."""

import atexit
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

STANDARD_INPUT = "-"
SPOOLED = "standard-input"  # the name of the copy


@cache
def standard_input() -> Path:
    """A copy on disk of all that comes, which goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="lexigraft-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with (folder / SPOOLED).open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return folder / SPOOLED
