"""Kernels of a server that was just installed: compiled by a process of its own, while numpy answers.

    python -m lexigraft.serve.kernels INDEX...

Compiling takes most of a minute, once for an installation, and holds Python's lock: requests that came meanwhile would
wait for longer than they may. That it was done is remembered by an empty file of the user's cache folder, whose name is
made of the kernels' sources and of what compiles them. Where that cannot be written, every server compiles aside, which
takes a second or two where numba has kept the machine code.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from lexigraft.core.compiled import leaving_kernels, load_kernels, stamp_of_kernels
from lexigraft.core.folders import cache_folder
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import find_place
from lexigraft.retrieve.warm import compile_search
from lexigraft.serve.term_system import warm

POLITENESS = 5  # below requests, which are answered meanwhile


def compiled_aside(indexes: Sequence[Path]) -> Iterator[None]:
    """Compile what searches of these indexes need, where nobody did so before; yields as long as that goes on. What is
    not waited for is ended. An error of it is none of the server's: kernels are then compiled when they are needed."""
    note = _note()
    if not indexes or (note is not None and note.exists()):
        return
    # -P: the folder where the server was started is no place to import from
    command = [sys.executable, "-P", "-m", "lexigraft.serve.kernels", *map(str, indexes)]
    nothing = subprocess.DEVNULL
    with leaving_kernels():
        try:
            process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        except OSError:  # no more processes, or no memory for one
            return
        try:
            while process.poll() is None:
                yield
        finally:
            process.kill()
            process.wait()
    if process.returncode == 0 and note is not None:
        with suppress(OSError):
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.touch()


def _note() -> Path | None:
    made_by = (platform.python_version(), platform.machine(), version("numba"), version("numpy"))
    kept_in = (str(Path(__file__).parents[1]), os.environ.get("NUMBA_CACHE_DIR", ""))
    folder = cache_folder("kernels")
    name = sha256(repr((stamp_of_kernels(), made_by, kept_in)).encode()).hexdigest()
    return None if folder is None else folder / name


def main(indexes: Sequence[str]) -> None:
    os.nice(POLITENESS)
    load_kernels()
    for index in indexes:
        compile_search(Path(index))
        warm(Opened(find_place(Path(index))))


if __name__ == "__main__":
    main(sys.argv[1:])
