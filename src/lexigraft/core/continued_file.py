"""A file of lines that is written piece by piece, appears whole or not at all, and goes on where a kill stopped it."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from lexigraft.core.artifact import write_json
from lexigraft.core.lock import writer_lock
from lexigraft.core.plain_files import read_plain_file

PART, STATE = "part", "state.json"


class ContinuedFile:
    """`file` is open at its end. `done` is what `keep` was last told, {} at the beginning."""

    def __init__(self, file: TextIO, state: Path, depends_on: Mapping[str, Any], done: dict[str, Any]) -> None:
        self.file, self.done = file, done
        self._state, self._depends_on = state, dict(depends_on)

    def keep(self, **done: Any) -> None:
        """What is written by now stays, and `done` says of it how far it goes."""
        self.file.flush()
        os.fsync(self.file.fileno())  # before the state that counts on it
        n_bytes = os.fstat(self.file.fileno()).st_size
        write_json(self._state, {"depends_on": self._depends_on, "done": done, "bytes": n_bytes})


@contextmanager
def continued_file(out: Path, work: Path, depends_on: Mapping[str, Any]) -> Iterator[ContinuedFile]:
    """Write `out`, which appears when the block ends. Until then what is kept lies in the folder `work`, which one
    process at a time may hold; a later call that depends on the same (anything JSON can say) goes on from there."""
    with writer_lock(work):
        part, state = work / PART, work / STATE
        done, n_bytes = _before(part, state, depends_on)
        if not n_bytes:
            state.unlink(missing_ok=True)  # of something else: it must not be believed of what is written now
        with part.open("r+b" if n_bytes else "wb") as cut:
            cut.truncate(n_bytes)  # what came after was not counted on
        try:
            with part.open("a", encoding="utf-8") as file:
                yield ContinuedFile(file, state, depends_on, done)
                file.flush()
                os.fsync(file.fileno())
            part.replace(out)
            shutil.rmtree(work)
        except BaseException:
            if not state.is_file():  # nothing was kept, so nothing is left
                shutil.rmtree(work, ignore_errors=True)
            raise


def _before(part: Path, state: Path, depends_on: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """What a call that was stopped had done, and how many bytes that is; nothing where it does not fit."""
    try:
        found = json.loads(read_plain_file(state))
        fits = found["depends_on"] == json.loads(json.dumps(dict(depends_on)))
        whole = part.stat().st_size >= found["bytes"]  # else the machine stopped before all of it was on the disk
        return (found["done"], found["bytes"]) if fits and whole else ({}, 0)
    except (OSError, ValueError, KeyError):
        return {}, 0
