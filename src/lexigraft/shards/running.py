"""Shards made one after the other, by processes of this machine, or by a Ray cluster: the same shards, however."""

import logging
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path

from lexigraft.core.errors import ArtifactError, require
from lexigraft.core.folders import make_folders
from lexigraft.core.processes import usable_cores
from lexigraft.core.progress import SILENT, Progress
from lexigraft.shards.work import ATTEMPTS, ShardWork, is_made, make_shard, shard_path

TIMES = 5  # that processes are started again after one of them was lost

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Where:
    """How many shards there are, and who makes them: `workers` processes of this machine (0: one a core), or the tasks
    of the Ray cluster at the address `ray`, each with so many cores and GPUs (`cpus`, `gpus`)."""

    shards: int
    workers: int = 0
    ray: str = ""
    cpus: int = 1
    gpus: float = 0.0
    keep: bool = False  # the shards, when they are joined

    def __post_init__(self) -> None:
        require(1 <= self.shards <= 99_999, "--shards", self.shards, "1 to 99,999")
        require(self.workers >= 0, "--workers", self.workers, "0 or more")
        require(self.cpus >= 1, "--ray-cpus", self.cpus, "1 or more")
        require(self.gpus >= 0, "--ray-gpus", self.gpus, "0 or more")

    @property
    def n_workers(self) -> int:
        """The processes of this machine that work at a time."""
        return min(self.workers or usable_cores(), self.shards)

    def require_ready(self) -> None:
        """Raise where a Ray cluster is asked for and cannot be reached: better before there is anything to lose."""
        if self.ray:
            from lexigraft.shards.ray_tasks import require_installed

            require_installed(self.ray)

    @property
    def threads(self) -> int:
        """How many threads a shard has: cores are shared out, so that no two shards want the same one."""
        return self.cpus if self.ray else max(1, usable_cores() // self.n_workers)


def make_shards(work: ShardWork, where: Where, progress: Progress = SILENT) -> list[Path]:
    """Make all shards that are not there yet; returns where they lie, in order. Whatever stops this leaves whole
    shards, and the same call goes on with the others."""
    make_folders(work.folder)
    sizes = work.sizes
    missing = [number for number in range(len(sizes)) if not is_made(work, number)]
    if done := len(sizes) - len(missing):
        log.info("%s: %d of %d shards were done before", work.label, done, len(sizes))

    def counted() -> Iterator[int]:
        """The documents of each shard when it is done: rate and time left are of documents."""
        for number in _made(work, missing, where):
            yield from range(sizes[number])

    for _ in progress.track(counted(), work.label, sum(sizes[number] for number in missing)):
        pass
    shutil.rmtree(work.folder / ATTEMPTS, ignore_errors=True)  # of processes that were killed
    return [shard_path(work, number) for number in range(len(sizes))]


def _made(work: ShardWork, numbers: list[int], where: Where) -> Iterator[int]:
    """The numbers of shards, each when it is made."""
    if not numbers:
        return
    if where.ray:
        from lexigraft.shards.ray_tasks import made_by_ray

        yield from made_by_ray(work, numbers, where.ray, where.cpus, where.gpus, where.n_workers)
    elif where.n_workers == 1:
        yield from (make_shard(work, number) for number in numbers)
    else:
        yield from _made_by_processes(work, numbers, where.n_workers)


def _made_by_processes(work: ShardWork, numbers: list[int], n_workers: int) -> Iterator[int]:
    """Processes are started afresh: a copy of one that runs threads could hang. One that is killed takes the pool with
    it; then others go on with what is missing."""
    left, others = set(numbers), set(active_children())
    for _ in range(TIMES):
        pool = ProcessPoolExecutor(
            min(n_workers, len(left)), get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
        )
        try:
            for done in as_completed([pool.submit(make_shard, work, number) for number in sorted(left)]):
                left.remove(number := done.result())
                yield number
            return
        except BrokenProcessPool:
            log.warning("a process was lost, perhaps for want of memory; others go on with %d shards", len(left))
        except BaseException:  # Ctrl-C, which this process alone hears, and would wait for shards that are half done
            for process in set(active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    raise ArtifactError(
        f"processes were lost {TIMES} times, as they are where memory is short; give fewer --workers or more --shards, "
        "and the same command goes on"
    )
