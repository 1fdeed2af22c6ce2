"""Processor time of a process and of all that it started: what work costs, however busy the machine is besides."""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int | None = None) -> float:
    """Of the process and its descendants, those included that ended and were waited for. Linux alone says so."""
    pid = os.getpid() if pid is None else pid
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = [
            int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(cpu_seconds, children))
