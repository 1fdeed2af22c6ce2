"""Where the engines of bench/engine_million.py lie: servers and files that a measurement makes and takes away again."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engines.interface import folder_bytes
from lexigraft.engines.address import Address, is_address, parse_address
from lexigraft.engines.engine import Engine
from lexigraft.engines.opening import open_engine

NAME = "million"
KINDS = ("postgresql", "postgresql-shards", "milvus-lite", "qdrant-edge", "qdrant-local")
# As an administrator would have it on a machine of 16 GiB or more. What is noted as loaded is on the disk (fsync).
POSTGRES = {
    "fsync": "on", "shared_buffers": "2GB", "max_wal_size": "4GB", "autovacuum": "on", "maintenance_work_mem": "256MB",
}  # fmt: skip


@dataclass(frozen=True)
class EnginePlace:
    """An engine that is open. `size` says how many bytes its rows take; None where it cannot be told from here.
    `settle`: what its server would do by itself after a load."""

    engine: Engine
    name: str
    version: str
    size: Callable[[], int | None]
    settle: Callable[[], None] = lambda: None


@contextmanager
def opened_place(engine: str, folder: Path) -> Iterator[EnginePlace]:
    """The engine at an address, or one of `KINDS` with its files in `folder`."""
    if is_address(engine):
        address = parse_address(engine)
        opened = open_engine(address)
        yield EnginePlace(opened, str(address), "", lambda: None)
        opened.close()
    elif engine == "postgresql":
        with _postgres() as place:
            yield place
    elif engine == "postgresql-shards":
        with sharded_postgres() as (place, _):
            yield place
    else:
        place = {"milvus-lite": _milvus, "qdrant-edge": _edge, "qdrant-local": _qdrant}[engine](folder / engine)
        yield place
        place.engine.close()
        shutil.rmtree(folder / engine)  # a file of Milvus Lite does not shrink; after a failure it stays, to go on from


@contextmanager
def _postgres() -> Iterator[EnginePlace]:
    from tests.engines.postgres_server import PASSWORD, USER, LocalServer

    server = LocalServer()
    server.settings |= POSTGRES
    try:
        server.start()
        engine = open_engine(Address("postgresql", NAME, "127.0.0.1", server.port, "postgres", USER, PASSWORD))
        sized = f"SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_partition_tree('{NAME}')"
        ((version,),) = server.execute("SELECT split_part(version(), ' ', 2)")
        yield EnginePlace(
            engine, "postgresql", f"PostgreSQL {version}", lambda: int(server.execute(sized)[0][0]),
            lambda: _unit(server.execute(f"VACUUM ANALYZE {NAME}")),
        )  # fmt: skip
        engine.close()
    finally:
        server.remove()


@contextmanager
def sharded_postgres() -> Iterator[tuple[EnginePlace, Any]]:
    """A coordinator and two shards, Debian's, and the coordinator's server beside."""
    from tests.engines.debian_postgres import made_root
    from tests.engines.postgres_server import PASSWORD, USER, LocalServer

    with ExitStack() as ends:
        servers = []
        for _ in range(3):
            servers.append(server := LocalServer(root=made_root()))
            ends.callback(server.remove)
            server.settings |= POSTGRES | {"shared_buffers": "700MB"}
            server.start()
        coordinator, *shards = servers
        options = (("shards", ",".join(f"127.0.0.1:{shard.port}" for shard in shards)),)
        address = Address("postgresql", NAME, "127.0.0.1", coordinator.port, "postgres", USER, PASSWORD, None, options)
        engine = open_engine(address)
        ends.callback(engine.close)
        ((version,),) = coordinator.execute("SELECT split_part(version(), ' ', 2)")

        def size() -> int:
            return sum(
                int(shard.execute(f"SELECT pg_total_relation_size('{NAME}__s{n}__p0')")[0][0])
                for n, shard in enumerate(shards)
            )

        def settle() -> None:
            for n, shard in enumerate(shards):
                shard.execute(f"VACUUM ANALYZE {NAME}__s{n}")

        yield EnginePlace(engine, "postgresql-shards", f"PostgreSQL {version}, 2 shards", size, settle), coordinator


def _milvus(folder: Path) -> EnginePlace:
    return _in_files("milvus", folder, f"milvus-lite {_version('milvus-lite')}, pymilvus {_version('pymilvus')}")


def _qdrant(folder: Path) -> EnginePlace:
    return _in_files("qdrant", folder, f"qdrant-client {_version('qdrant-client')}")


def _in_files(scheme: str, folder: Path, version: str) -> EnginePlace:
    engine = open_engine(parse_address(f"{scheme}:{folder.absolute()}/{NAME}"))
    return EnginePlace(engine, folder.name, version, lambda: folder_bytes(folder))


def _edge(folder: Path) -> EnginePlace:
    from tests.engines.qdrant_edge import edge_engine

    engine = edge_engine(folder, NAME)
    client: Any = engine._connected
    version = f"qdrant-edge-py {_version('qdrant-edge-py')}"
    return EnginePlace(engine, "qdrant-edge", version, lambda: _taken(folder), lambda: client.optimize(NAME))


def _taken(folder: Path) -> int:
    """The blocks of the files, for Qdrant makes files of fixed sizes with holes in them."""
    return sum(512 * path.stat().st_blocks for path in folder.rglob("*") if path.is_file())


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def _unit(_: object) -> None:
    """For a callback whose result is of no use."""
