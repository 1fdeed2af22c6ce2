"""Which of several processes this is, as `torchrun` says it. One process alone is the leader of one."""

import os


def n_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def process_rank() -> int:
    return int(os.environ.get("RANK", "0")) if n_processes() > 1 else 0


def is_leader() -> bool:
    """Whether this process is the one that writes, measures and speaks."""
    return process_rank() == 0


def is_alive(process: int) -> bool:
    """Whether a process of this number works on this machine, whoever's it is."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def usable_cores() -> int:
    """How many cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
