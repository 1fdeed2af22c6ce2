"""Commands in processes forked from one that has imported everything: a case takes milliseconds, and one that crashes,
hangs or eats memory ends alone."""

import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HANG_SECONDS = 10
EXTRA_MEMORY = 6 << 30
SIGNS = ("Traceback (most recent call last)",)


class Outcome(NamedTuple):
    """`status` as a shell says it: negative numbers are signals."""

    status: int
    stdout: str
    stderr: str

    @property
    def error(self) -> str:
        """The line of error, empty where there is none."""
        return next((line for line in self.stderr.splitlines() if line.startswith("error: ")), "")

    @property
    def problem(self) -> str:
        """What no input may ever cause; empty where all is well."""
        if self.status == -signal.SIGALRM:
            return "hang"
        if self.status < 0:
            return f"signal {-self.status}"
        if any(sign in self.stderr for sign in SIGNS):
            return "traceback"
        if self.status not in (0, 1, 2):
            return f"exit {self.status}"
        if self.status and not self.error and "Usage:" not in self.stderr:
            return "no line of error"
        if self.status and sum(line.startswith("error: ") for line in self.stderr.splitlines()) > 1:
            return "several lines of error"
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", self.stdout + self.stderr):
            return "control characters"
        return ""


def run_forked(arguments: Sequence[str], folder: Path, scratch: Path, seconds: float = HANG_SECONDS) -> Outcome:
    """`lexigraft ARGUMENTS` in `folder`, in a fork of this process."""
    out, err = scratch / "stdout", scratch / "stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _be_command(arguments, folder, out, err, seconds)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    return Outcome(status, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace"))


def limit_this_process(seconds: float, extra_memory: int = EXTRA_MEMORY) -> None:
    """A fork of a warm process ends after so long, whatever it does, takes bounded memory more, and leaves no core."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process wherever it is, also in compiled code
    signal.setitimer(signal.ITIMER_REAL, seconds)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra_memory, used + extra_memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _be_command(arguments: Sequence[str], folder: Path, out: Path, err: Path, seconds: float) -> None:
    status = 70
    try:
        limit_this_process(seconds)
        for path, number in ((out, 1), (err, 2)):
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(opened, number)
            os.close(opened)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.chdir(folder)
        sys.argv = ["lexigraft", *arguments]
        from lexigraft.cli.app import main

        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:  # noqa: BLE001  # as Python would end a command
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
