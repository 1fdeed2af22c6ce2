"""Shards made by the tasks of a Ray cluster. A worker or a node that is lost costs only the shards it was at: Ray gives
them to others, and what was whole already is kept (`shards.work`).

Ray itself ("pip install 'lexigraft[ray]'") is imported when it is asked for, and by nobody else.
"""

import importlib.util
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lexigraft import __version__
from lexigraft.core.errors import InputError, LexigraftError, MissingExtraError, SettingError
from lexigraft.core.installing import install_extra
from lexigraft.shards.work import ShardWork, make_shard

LOCAL, AUTO, CLIENT = "local", "auto", "ray://"
USUAL_PORT, CLIENT_PORT = 6379, 10001
SECONDS = 5.0  # to reach a cluster's first machine
RETRIES = 20  # of a shard whose worker or node was lost
ADDRESSES = "local, auto, HOST:PORT or ray://HOST:PORT"

log = logging.getLogger(__name__)


def made_by_ray(
    work: ShardWork, numbers: list[int], address: str, cpus: int, gpus: float, n_workers: int
) -> Iterator[int]:
    """The numbers of shards, each when it is made. `n_workers`: how many tasks a cluster started here has at a time."""
    with _cluster(address, cpus * n_workers) as ray:
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": RETRIES, "scheduling_strategy": "SPREAD"}
        task = ray.remote(**options)(make_by_version)
        waiting = [task.remote(__version__, work, number) for number in numbers]
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield from (_result(ray, one) for one in done)


def make_by_version(version: str, work: ShardWork, number: int) -> int:
    """`make_shard` on a machine that has the same version as the one that asks: others may write other bytes."""
    if version != __version__:
        raise InputError(
            f"the machine {socket.gethostname()} of the Ray cluster has lexigraft {__version__}, this one {version}; "
            "install the same version on all"
        )
    return make_shard(work, number)


def _result(ray: Any, reference: Any) -> int:
    """What a task returned; what it raised, or why it was lost for good, as one line."""
    errors = ray.exceptions
    try:
        return int(ray.get(reference))
    except errors.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, LexigraftError | OSError):
            raise cause from None
        raise InputError(f"a task of the Ray cluster failed: {_first_line(cause)}") from error
    except errors.RayError as error:
        lost = f"the worker of a shard was lost {RETRIES + 1} times ({_first_line(error)})"
        raise InputError(f"{lost}; see the cluster's log; the same command goes on with what is missing") from error


@contextmanager
def _cluster(address: str, cpus: int) -> Iterator[Any]:
    """Ray, connected to the cluster at `address`; `local` is one of this machine alone, with so many cores."""
    require_installed(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    import ray

    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address == LOCAL:
        quiet |= {"num_cpus": cpus, "include_dashboard": False}
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, OSError) as error:
        ray.shutdown()
        raise _in_words(address, error, ray.__version__) from error
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        log.info("Ray: %d nodes, %g cores", len(nodes), ray.cluster_resources().get("CPU", 0))
        yield ray
    finally:
        ray.shutdown()  # also ends the tasks that are still at work


def require_installed(address: str) -> None:
    """Raise unless Ray is installed and somebody answers at `address`."""
    require_address(address)
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError("--ray", "ray", install_extra("ray"))


def require_address(address: str) -> None:
    """Raise unless `address` is one that a cluster can have, and somebody answers there."""
    if address in (LOCAL, AUTO):
        return
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not colon:
        host, port = port, str(CLIENT_PORT if address.startswith(CLIENT) else USUAL_PORT)
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingError(f"--ray {address!r} is no address; give {ADDRESSES}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS).close()
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {address} ({error.strerror or error}); start one: ray start --head, or give "
            "--ray local"
        ) from error


def _in_words(address: str, error: Exception, own_version: str) -> LexigraftError:
    """Why a cluster could not be joined, in one line."""
    said = " ".join(str(error).split())
    if "ersion mismatch" in said or "ersions mismatch" in said:
        return InputError(f"the Ray cluster at {address} has another version than ray {own_version} here: {said[:200]}")
    if address == AUTO:
        return InputError("no Ray cluster runs on this machine; start one: ray start --head, or give --ray local")
    return InputError(f"the Ray cluster at {address} cannot be joined: {said[:200] or type(error).__name__}")


def _first_line(error: BaseException) -> str:
    said = [line for line in str(error).splitlines() if line.strip()]
    return (said[0].strip() if said else type(error).__name__)[:200]
