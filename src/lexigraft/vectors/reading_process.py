"""A process that reads texts for this one. It is started afresh, as a program of its own: a copy of one that runs
threads could hang, and a script that called us is not run again. It ends with whoever started it.

Both talk through a pair of sockets: first how to read, then texts, and each time what was read, or why not.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, cast

from lexigraft.core.compiled import load_kernels
from lexigraft.inference.reading import ReadTexts

Read = Callable[[list[str]], ReadTexts]

PROGRAM = "import sys; sys.path[:] = {paths!r}; from lexigraft.vectors.reading_process import serve; serve({socket})"
IS_THERE = os.name == "posix"  # elsewhere sockets are handed on in another way


class ReaderLostError(Exception):
    """The process is gone, or could not be started."""


def to_send(read: Read) -> bytes:
    """What a `ReadingProcess` is told; any error says that this cannot be sent."""
    return bytes(ForkingPickler.dumps(read))


class ReadingProcess:
    def __init__(self, how: bytes, sample: list[str]) -> None:
        """`how` is of `to_send`. Waits until the process has read some texts: by then it has loaded what it needs."""
        self._socket, theirs = Pipe()
        program = PROGRAM.format(paths=sys.path, socket=theirs.fileno())
        with theirs:
            try:
                command = [sys.executable, "-c", program]
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
            except OSError as error:
                raise ReaderLostError(str(error)) from error
        try:
            self._ask(how)
            self.read(sample)
        except BaseException:
            self.end()
            raise

    def read(self, texts: list[str]) -> ReadTexts:
        """What is read of `texts`; an error there is one here."""
        found = self._ask(bytes(ForkingPickler.dumps(texts)))
        if isinstance(found, Exception):
            raise found
        return cast(ReadTexts, found)

    def _ask(self, what: bytes) -> Any:
        try:
            self._socket.send_bytes(what)
            return self._socket.recv()
        except (OSError, EOFError) as error:
            raise ReaderLostError(str(error)) from error

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._socket.close()


def serve(socket: int) -> None:
    """The other process: read what is sent, until nobody is there to send."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started this
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would be those of all cores, in every process
    os.dup2(2, 1)  # what is printed here is no result
    load_kernels()  # there is much to read
    there = Connection(socket)
    with suppress(EOFError, OSError):
        read: Read = there.recv()
        there.send(None)
        while True:
            texts = there.recv()
            try:
                found: Any = read(texts)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is raised where it was asked for
                found = error
            there.send_bytes(_answer(found))
    os._exit(0)  # nothing is to be cleared up


def _answer(found: Any) -> bytes:
    try:
        return bytes(ForkingPickler.dumps(found))
    except Exception:  # noqa: BLE001  # an error may hold anything
        return bytes(ForkingPickler.dumps(RuntimeError(f"{type(found).__name__}: {found}")))
