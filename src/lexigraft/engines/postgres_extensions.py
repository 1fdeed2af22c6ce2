"""What a server of PostgreSQL must have, made where it is not there, or said in one line with what to do."""

from typing import Any

import regex

from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError
from lexigraft.engines.postgres_errors import server_of

OLDEST = (0, 7, 0)  # of pgvector: the first with sparse vectors


def require_pgvector(connection: Any, address: Address) -> None:
    from psycopg import errors

    where, wanted = _database(address), ".".join(map(str, OLDEST))
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise EngineError(
            f"{where} is PostgreSQL {_release(connection)} without pgvector, and {wanted} or newer is needed; install "
            "that package on the server, then run CREATE EXTENSION vector"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise EngineError(
            f"{where} has no pgvector yet, and {wanted} or newer is needed; have its owner run CREATE EXTENSION vector"
        ) from error
    found, encoding = connection.execute(
        "SELECT extversion, current_setting('server_encoding') FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    if tuple(map(int, regex.findall(r"\d+", found))) < OLDEST:
        raise EngineError(
            f"{where} has pgvector {found}, and {wanted} or newer is needed; install that on the server, then run "
            "ALTER EXTENSION vector UPDATE"
        )
    if encoding != "UTF8":
        raise EngineError(f"{where} is in {encoding}, which does not hold every text; make a database in UTF8")


def require_postgres_fdw(connection: Any, address: Address) -> None:
    """Of a coordinator: what makes other servers' tables its partitions."""
    from psycopg import errors

    where = _database(address)
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS postgres_fdw")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise EngineError(
            f"{where} is PostgreSQL {_release(connection)} without postgres_fdw, which shards need; install the "
            "package of its additional modules (contrib) there, or leave ?shards out and have one server"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise EngineError(
            f"{where} has no postgres_fdw yet, which shards need; have a superuser run CREATE EXTENSION postgres_fdw, "
            "and GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw to the user"
        ) from error


def _database(address: Address) -> str:
    return f"{address.database or 'the database'} of {server_of(address)}"


def _release(connection: Any) -> int:
    return int(connection.info.server_version) // 10000
