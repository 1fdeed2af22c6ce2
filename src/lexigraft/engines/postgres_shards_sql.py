"""What a coordinator is told of a collection in shards: a partitioned table whose partitions are foreign tables.

Which shard has a row is decided by the hash of its id by which PostgreSQL itself partitions. Hence a query by id asks
one shard alone, and a row that is inserted by SQL, through the coordinator, comes where the adapter would put it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.engines.postgres_sql import SIDECAR, sidecar_of

FETCHED = 1000  # rows of a shard that a coordinator fetches together


class ShardedStatements(NamedTuple):
    """Of one collection, ready to be executed on the coordinator."""

    create: list[Any]  # these need no parameters
    is_there: Any
    read: Any
    note: Any
    route: Any  # the ids of rows to the numbers of their shards
    reach: list[Any]  # one a shard, which asks it for a row
    drop: Any


class Reached(NamedTuple):
    """How the coordinator reaches a shard: options of the server, of the user, and of the foreign table."""

    server: Mapping[str, str]
    login: Mapping[str, str]
    schema: str
    table: str


def sharded_statements(name: str, n_shards: int, n_terms: int = 1) -> ShardedStatements:
    """`n_terms` matters to `create` alone."""
    from psycopg import sql

    table, sidecar = sql.Identifier(name), sql.Identifier(sidecar_of(name))

    def text(template: str, **more: Any) -> Any:
        return sql.SQL(template).format(table=table, sidecar=sidecar, **more)

    return ShardedStatements(
        create=[
            text(
                # No key: PostgreSQL has none over foreign tables. Each shard's own table has it.
                'CREATE TABLE {table} (row_id text COLLATE "C" NOT NULL, title text NOT NULL, '
                "terms sparsevec({n_terms}) NOT NULL, meta jsonb NOT NULL) PARTITION BY HASH (row_id)",
                n_terms=sql.Literal(n_terms),
            ),
            text(SIDECAR),
        ],
        is_there=text("SELECT to_regclass(%s) IS NOT NULL"),
        read=text("SELECT description FROM {sidecar}"),
        note=text(
            "INSERT INTO {sidecar} (description) VALUES (%s::jsonb) "
            "ON CONFLICT (one) DO UPDATE SET description = EXCLUDED.description"
        ),
        route=text(
            "SELECT row_id, (SELECT number FROM generate_series(0, {last}) AS number "
            "WHERE satisfies_hash_partition({quoted}::regclass, {of}, number, row_id)) "
            "FROM unnest(%s::text[]) AS row_id",
            last=sql.Literal(n_shards - 1), of=sql.Literal(n_shards), quoted=sql.Literal(f'"{name}"'),
        ),
        reach=[
            text("SELECT FROM {part} LIMIT 1", part=sql.Identifier(f"{name}__p{number}")) for number in range(n_shards)
        ],
        drop=text("DROP TABLE IF EXISTS {sidecar}, {table}"),
    )  # fmt: skip


def shard_statements(name: str, number: int, n_shards: int, reached: Reached) -> list[Any]:
    """What makes a shard known to the coordinator, once its own collection is there. An operator of an extension that
    is not named in `extensions` would be computed on the coordinator, and all vectors would travel."""
    from psycopg import sql

    server = sql.Identifier(reached.table)

    def options(given: Mapping[str, str]) -> Any:
        return sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(key), sql.Literal(value)) for key, value in given.items()
        )

    of_server = {**reached.server, "extensions": "vector", "fetch_size": str(FETCHED), "async_capable": "true"}
    return [
        sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(server, options(of_server)),
        sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS ({})").format(server, options(reached.login)),
        sql.SQL(
            "CREATE FOREIGN TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {}) SERVER {} OPTIONS ({})"
        ).format(
            sql.Identifier(f"{name}__p{number}"), sql.Identifier(name), sql.Literal(n_shards), sql.Literal(number),
            server, options({"schema_name": reached.schema, "table_name": reached.table}),
        ),
    ]  # fmt: skip


def drop_server(server: str) -> Any:
    """With the logins that anybody has there."""
    from psycopg import sql

    return sql.SQL("DROP SERVER IF EXISTS {} CASCADE").format(sql.Identifier(server))
