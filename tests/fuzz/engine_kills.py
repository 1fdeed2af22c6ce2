"""SIGKILL in the middle of loads into engines: the same load again leaves every row there, and none twice.

    python -m tests.fuzz.engine_kills --of postgresql --kills 10 [--seed 0]

Of PostgreSQL the server is killed, or one of three where the rows lie in shards, its first process alone or all of them
at once; of Milvus Lite, Qdrant's files and Qdrant's core, which have no server of their own, the process that loads, of
Milvus Lite with the process that it started or without. The moment is random, from before the collection is made to the
last row. Then what was noted as loaded must be there, the load is repeated, and every row's id, title, weights and
metadata are compared. Only engines whose packages are installed can be asked for; each has an environment of its own
(`make test-engines`).
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexigraft.engines import backoff
from lexigraft.engines.address import Address, parse_address
from lexigraft.engines.engine import UnreachableError
from lexigraft.engines.opening import open_engine
from tests.fuzz.engine_world import N_ROWS, World

SOONER = 0.8  # the first load also warms up: where one ended before its kill, the next kill comes sooner
IN_FILES = ("milvus", "qdrant", "qdrant-edge")
SHARDED = "postgresql-shards"
ENGINES = ("postgresql", SHARDED, *IN_FILES)


def kill_servers(world: World, n: int, rng: random.Random, n_shards: int = 0) -> dict[str, Any]:
    """Kill PostgreSQL `n` times, each time during a load into a new table; with shards, the coordinator or one of
    them."""
    from tests.engines.debian_postgres import made_root
    from tests.engines.postgres_server import PASSWORD, USER, LocalServer

    servers = [LocalServer(root=made_root() if n_shards else None) for _ in range(1 + n_shards)]
    shards = ",".join(f"127.0.0.1:{one.port}" for one in servers[1:])
    options = (("shards", shards),) if shards else ()
    counts, noted = Counter[str](), list[int]()
    backoff.TRIES = 1  # the load ends with the server, and is repeated by hand
    try:
        for server in servers:
            server.start()
        seconds, number = 1.0, 0
        while sum(count for what, count in counts.items() if what.startswith("killed")) < n:
            number += 1
            address = Address(
                "postgresql", f"t{number}", "127.0.0.1", servers[0].port, "postgres", USER, PASSWORD, None, options
            )
            after, alone, victim = rng.uniform(0, seconds), rng.random() < 0.5, rng.randrange(len(servers))
            server = servers[victim]
            which = "" if not shards else "the coordinator, " if victim == 0 else "a shard, "
            engine = open_engine(address)
            if number == 1:  # left alone and timed
                begun = time.perf_counter()
                world.load(engine)
                seconds = time.perf_counter() - begun
                counts["left alone"] += 1
            elif _load_until_killed(world, engine, lambda server=server, alone=alone: server.kill(alone), after):
                server.start()
                noted.append(world.require_what_was_noted("postgresql", engine))
                world.load(engine)
                counts[f"killed: {which}" + ("the first process" if alone else "all processes")] += 1
            else:
                server.start()
                counts["ended before"] += 1
                seconds *= SOONER
            world.require_all("postgresql", engine)
            engine.drop()
            engine.close()
            _say("postgresql", counts)
    finally:
        for server in servers:
            server.remove()
    return {**counts, "rows noted before": noted}


def _load_until_killed(world: World, engine: Any, kill: Callable[[], None], after: float) -> bool:
    """Whether the load was stopped by the kill."""
    ended: list[BaseException | None] = []

    def load() -> None:
        try:
            world.load(engine)
            ended.append(None)
        except UnreachableError as error:
            ended.append(error)

    loading = threading.Thread(target=load)
    loading.start()
    time.sleep(after)
    kill()
    loading.join()
    assert ended, "the load failed otherwise than by a server that does not answer"
    return ended[0] is not None


def kill_loads(world: World, scheme: str, n: int, rng: random.Random, root: Path) -> dict[str, Any]:
    """Kill `n` processes that load into files. Engines are opened in forks alone: their threads do not survive one."""
    _import_client(scheme)
    tempfile.tempdir = str(root)  # there Milvus Lite leaves its socket, and what is killed does not tidy up
    counts: Counter[str] = Counter()
    noted: list[int] = []
    folder, sign = root / scheme, root / "begun"
    begun = _begin(lambda: _load_in(world, scheme, folder, sign), sign)
    _finish(begun[0])
    seconds = time.perf_counter() - begun[1]
    _finish(_fork(lambda: _look_and_repeat(world, scheme, folder, root / "noted")))
    counts["left alone"] += 1
    while sum(count for what, count in counts.items() if what.startswith("killed")) < n:
        shutil.rmtree(folder, ignore_errors=True)
        pid, start = _begin(lambda: _load_in(world, scheme, folder, sign), sign)
        alone = scheme == "milvus" and rng.random() < 0.5
        time.sleep(max(0.0, start + rng.uniform(0, seconds) - time.perf_counter()))
        (os.kill if alone else os.killpg)(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            counts["ended before"] += 1
            seconds *= SOONER
        else:
            said = root / "noted"
            _finish(_fork(lambda said=said: _look_and_repeat(world, scheme, folder, said)))
            noted.append(int(said.read_text()))
            counts["killed: " + ("the loading process alone" if alone else "the loading process")] += 1
        _say(scheme, counts)
        if counts.total() > 3 * n + 20:
            raise AssertionError(f"most loads end before they are killed: {dict(counts)}")
    return {**counts, "rows noted before": noted}


def _import_client(scheme: str) -> None:
    """So that a kill meets the load and not the imports."""
    if scheme == "milvus":
        import milvus_lite
        import pymilvus  # noqa: F401

        assert milvus_lite
    else:
        import qdrant_client  # noqa: F401
    if scheme == "qdrant-edge":
        import qdrant_edge  # noqa: F401


def _open(scheme: str, folder: Path) -> Any:
    if scheme == "qdrant-edge":
        from tests.engines.qdrant_edge import edge_engine

        return edge_engine(folder)
    return open_engine(parse_address(f"{scheme}:{folder}/papers"))


def _load_in(world: World, scheme: str, folder: Path, sign: Path) -> None:
    engine = _open(scheme, folder)
    sign.touch()
    world.load(engine)
    os._exit(0)  # without a farewell: the clock of a load that is left alone ends with its last row


def _look_and_repeat(world: World, scheme: str, folder: Path, said: Path) -> None:
    engine = _open(scheme, folder)
    said.write_text(str(world.require_what_was_noted(scheme, engine)))
    world.load(engine)
    world.require_all(scheme, engine)
    engine.close()
    again = _open(scheme, folder)  # what is in files, and not in a memory
    world.require_all(scheme, again)
    again.close()


def _begin(do: Callable[[], None], sign: Path) -> tuple[int, float]:
    """Start a process, and wait until it begins to load."""
    sign.unlink(missing_ok=True)
    pid = _fork(do)
    while not sign.exists():
        time.sleep(0.002)
    return pid, time.perf_counter()


def _fork(do: Callable[[], None]) -> int:
    """A process that does something, in a session of its own."""
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        do()
        status = 0
    except BaseException:  # noqa: BLE001  # said, and told by the status
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _finish(pid: int) -> None:
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what it started and did not end
    assert status == 0, "a load did not end well; what it said stands above"


def _say(scheme: str, counts: Counter[str]) -> None:
    print(scheme, dict(counts), file=sys.stderr, flush=True)


def kills(scheme: str, n: int, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        root, rng = Path(folder), random.Random(seed)
        world = World(root)
        if scheme == "postgresql":
            return kill_servers(world, n, rng)
        if scheme == SHARDED:
            return kill_servers(world, n, rng, n_shards=2)
        return kill_loads(world, scheme, n, rng, root)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=ENGINES, required=True, help="the engine")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = kills(options.of, options.kills, options.seed)
    print(json.dumps({"engine": options.of, "rows": N_ROWS, "seed": options.seed, **found}))


if __name__ == "__main__":
    main()
