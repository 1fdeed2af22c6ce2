"""The work of a study, several processes at a time, each with a log; what is done is kept, whatever else happens."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lexigraft.core.folders import make_folders
from lexigraft.study.regime import TINY
from lexigraft.study.work import Work

WORKER = "lexigraft.study.work"
PAUSE = 0.2  # seconds between looks at the processes
GRACE = 25.0  # seconds that a process has to keep what it is doing


class Ended(NamedTuple):
    """A process of a study: how it ended (None: it was stopped at the deadline), and the last line of its log."""

    name: str
    status: int | None
    seconds: float
    said: str


def perform_all(
    works: Sequence[Work],
    jobs: int,
    seconds: float | None = None,
    report: Callable[[Ended], None] = lambda ended: None,
) -> list[Ended]:
    """Do all of it, `jobs` processes at a time, the first first. After `seconds` nothing is begun and what still runs
    is asked to stop; a later call goes on from there."""
    waiting, running, ended = processes_of(works, jobs), list[_Process](), list[Ended]()
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        while waiting or running:
            late = deadline is not None and time.monotonic() >= deadline
            while waiting and len(running) < jobs and not late:
                running.append(_Process(waiting.pop(0)))
            stopped = [one for one in running if late and one.process.poll() is None]
            for one in stopped:
                one.process.terminate()
            until = time.monotonic() + GRACE
            for one in [one for one in running if late or one.process.poll() is not None]:
                running.remove(one)
                ended.append(one.end(until if one in stopped else None))
                report(ended[-1])
            if late:
                break
            time.sleep(PAUSE)
    finally:
        for one in running:
            one.process.terminate()
        for one in running:
            one.end(time.monotonic() + GRACE)
    return ended


def processes_of(works: Sequence[Work], jobs: int) -> list[list[Work]]:
    """What each process does: one arm and seed or, where a training takes seconds and beginning a process as long, its
    share of all of a collection."""
    if not works or works[0].scale.name != TINY:
        return [[work] for work in works]
    alike: dict[tuple[str, str], list[Work]] = {}
    for work in works:
        alike.setdefault((work.study.name, work.data), []).append(work)
    return [some[first::jobs] for some in alike.values() for first in range(min(jobs, len(some)))]


class _Process:
    def __init__(self, works: Sequence[Work]) -> None:
        work = works[0]
        self.name, self.began = work.folder.name, time.monotonic()
        self.log = work.out / "logs" / f"{self.name}.txt"
        make_folders(self.log.parent)
        asked = [f"{one.arm.name}:{one.seed}" for one in works]
        command = [sys.executable, "-m", WORKER, work.study.name, "--do", *asked]
        with self.log.open("w", encoding="utf-8") as file:
            # Several processes share the cores: more threads than two each would only wait for each other.
            threads = {name: os.environ.get(name, "2") for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
            self.process = subprocess.Popen(
                [*command, *work.options], stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **threads}
            )

    def end(self, until: float | None) -> Ended:
        """How it ended; where it was asked to stop, it has `until` then, and is killed."""
        try:
            status = self.process.wait(None if until is None else max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = lines[-1] if lines else ""
        return Ended(self.name, None if until is not None else status, time.monotonic() - self.began, said)
