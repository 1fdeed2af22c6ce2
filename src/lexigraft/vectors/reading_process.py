"""A process that reads texts for this one. It is started afresh, as a program of its own: a copy of one that runs
threads could hang, and a script that called us is not run again. It ends with whoever started it.

Both talk by pickles through pipes: first how to read, then texts, and each time what was read, or why not.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, cast

from lexigraft.inference.reading import ReadTexts

Read = Callable[[list[str]], ReadTexts]

PROGRAM = "import sys; sys.path[:] = {paths!r}; from lexigraft.vectors.reading_process import serve; serve()"
READY = "ready"


class ReaderLostError(Exception):
    """The process is gone, or could not be started."""


class ReadingProcess:
    def __init__(self, how: bytes) -> None:
        """`how`: a pickled `Read`. Waits until the process knows it."""
        command = [sys.executable, "-c", PROGRAM.format(paths=sys.path)]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise ReaderLostError(str(error)) from error
        self._to, self._from = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        try:
            self._ask(how)
        except ReaderLostError:
            self.end()
            raise

    def read(self, texts: list[str]) -> ReadTexts:
        """What is read of `texts`; an error there is one here."""
        found = self._ask(pickle.dumps(texts, pickle.HIGHEST_PROTOCOL))
        if isinstance(found, Exception):
            raise found
        return cast(ReadTexts, found)

    def _ask(self, pickled: bytes) -> Any:
        try:
            self._to.write(pickled)
            self._to.flush()
            return pickle.load(self._from)  # of our own process
        except (OSError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise ReaderLostError(str(error)) from error

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            with suppress(OSError):
                pipe.close()


def serve() -> None:
    """The other process: read what is sent, until nobody is there to send."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started this
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would be those of all cores, in every process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no answer
    with suppress(EOFError, BrokenPipeError):
        read: Read = pickle.load(sys.stdin.buffer)  # of the one that started this
        _answer(READY, answers)
        while True:
            texts = pickle.load(sys.stdin.buffer)
            try:
                found: Any = read(texts)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is raised where it was asked for
                found = error
            _answer(found, answers)
    os._exit(0)  # nothing is to be cleared up, and a broken pipe needs no message


def _answer(found: Any, answers: IO[bytes]) -> None:
    try:
        pickled = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  # an error may hold anything
        pickled = pickle.dumps(RuntimeError(f"{type(found).__name__}: {found}"))
    answers.write(pickled)
    answers.flush()
