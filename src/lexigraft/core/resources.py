"""What a piece of work took: wall time, and the most memory this process held meanwhile."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Usage:
    seconds: float = 0.0
    peak_rss_mib: float = 0.0


@contextmanager
def measured() -> Iterator[Usage]:
    """Fill the yielded `Usage` when the block ends.

    On Linux the kernel's high-water mark is reset first, so that the peak is the block's own; elsewhere it is the
    process's so far. Mapped files count, child processes do not.
    """
    usage, start = Usage(), time.perf_counter()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    try:
        yield usage
    finally:
        usage.seconds, usage.peak_rss_mib = time.perf_counter() - start, _peak_rss_mib()


def _peak_rss_mib() -> float:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
