"""What PostgreSQL is told. Names of tables are quoted by psycopg, and values are parameters: no value stands in a text.

The table is partitioned by a hash of the row's id. PostgreSQL scans the partitions with several processes, and moves
none of the rows when one partition is vacuumed, or put on a disk of its own (ALTER TABLE ... SET TABLESPACE).
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, Test, TextIs
from lexigraft.engines.postgres_rows import escaped, utf8
from lexigraft.index.metadata import DATE

COLUMNS = "row_id, title, terms, meta"
INLINE = 8160  # bytes of a row that stay in the table itself: a scan need not look up vectors of 250 terms elsewhere
# What every search needs lies beside the description, which may be long: the query encoder is in it.
SIDECAR = (
    "CREATE TABLE {sidecar} (one boolean PRIMARY KEY DEFAULT true CHECK (one), description jsonb NOT NULL, "
    "n_terms integer GENERATED ALWAYS AS ((description ->> 'n_terms')::integer) STORED, "
    "kinds jsonb GENERATED ALWAYS AS (description -> 'kinds') STORED)"
)
SIGNS = {sign: sign for sign in ("=", "<", "<=", ">", ">=")}


class Statements(NamedTuple):
    """Of one collection, ready to be executed."""

    create: list[Any]  # these need no parameters
    is_there: Any
    read: Any
    shape: Any
    note: Any
    stage: Any
    copy: Any
    insert: Any
    search: Any  # without its condition and end
    delete: Any
    count: Any
    drop: Any


def statements(name: str, n_partitions: int, n_terms: int = 1) -> Statements:
    """`n_terms` matters to `create` alone."""
    from psycopg import sql

    table, sidecar = sql.Identifier(name), sql.Identifier(sidecar_of(name))
    names = {"table": table, "sidecar": sidecar, "stage": sql.Identifier("pg_temp", f"{name}__load")}

    def text(template: str, **more: Any) -> Any:
        return sql.SQL(template).format(**names, **more)

    create = [
        text(
            'CREATE TABLE {table} (row_id text COLLATE "C" PRIMARY KEY, title text NOT NULL, '
            "terms sparsevec({n_terms}) NOT NULL, meta jsonb NOT NULL) PARTITION BY HASH (row_id)",
            n_terms=sql.Literal(n_terms),
        ),
        *(
            text(
                "CREATE TABLE {part} PARTITION OF {table} FOR VALUES WITH (MODULUS {of}, REMAINDER {one}) "
                f"WITH (toast_tuple_target = {INLINE})",
                part=sql.Identifier(f"{name}__p{one}"), of=sql.Literal(n_partitions), one=sql.Literal(one),
            )
            for one in range(n_partitions)
        ),
        text(SIDECAR),
    ]  # fmt: skip
    return Statements(
        create=create,
        is_there=text("SELECT to_regclass(%s) IS NOT NULL"),
        read=text("SELECT description FROM {sidecar}"),
        shape=text("SELECT n_terms, kinds FROM {sidecar}"),
        note=text(
            "INSERT INTO {sidecar} (description) VALUES (%s::jsonb) "
            "ON CONFLICT (one) DO UPDATE SET description = EXCLUDED.description"
        ),
        stage=text(
            # Made once a connection and emptied at every commit: one a batch would swell the catalogue.
            "CREATE TEMPORARY TABLE IF NOT EXISTS {stage} (row_id text, title text, terms sparsevec, meta jsonb) "
            "ON COMMIT DELETE ROWS"
        ),
        copy=text(f"COPY {{stage}} ({COLUMNS}) FROM STDIN (FORMAT BINARY)"),
        insert=text(
            # In one order everywhere, so that two loads of the same rows wait for each other and do not lock each other
            f'INSERT INTO {{table}} ({COLUMNS}) SELECT {COLUMNS} FROM {{stage}} ORDER BY row_id COLLATE "C" '
            "ON CONFLICT (row_id) DO UPDATE SET title = EXCLUDED.title, terms = EXCLUDED.terms, meta = EXCLUDED.meta"
        ),
        search=text("SELECT row_id, title, terms <#> %s::sparsevec AS distance FROM {table} "),
        delete=text("DELETE FROM {table} WHERE row_id = ANY(%s::text[])"),
        count=text("SELECT count(*) FROM {table}"),
        drop=text("DROP TABLE IF EXISTS {sidecar}, {table}"),
    )


def sidecar_of(name: str) -> str:
    return f"{name}__lexigraft"


# For this transaction alone. Compiling the query (jit) takes longer than it saves. A process is worth its start from
# some 32 MiB on; left alone, PostgreSQL takes one for every few partitions, however small they are. The server's own
# limit of processes (max_parallel_workers) holds.
SCAN_SETTINGS = (
    "SELECT set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', "
    f"least(%s::integer, div(sum(pg_relation_size(relid)), {32 << 20}))::text, true) "
    "FROM pg_partition_tree(%s::regclass)"
)

# For this transaction alone: of foreign partitions, each is counted where it lies.
COUNT_SETTINGS = "SELECT set_config('enable_partitionwise_aggregate', 'on', true)"


def search_sql(search: Any, test: Test | None, kinds: Mapping[str, str]) -> tuple[Any, list[object]]:
    """The statement, and the parameters between the query's vector and k."""
    from psycopg import sql

    condition, values = ("true", []) if test is None else condition_sql(test, kinds)
    return search + sql.SQL(f"WHERE {condition} ORDER BY distance LIMIT %s"), values


def condition_sql(test: Test, kinds: Mapping[str, str]) -> tuple[str, list[object]]:
    """A test as SQL that is true or false, never NULL, and its parameters in order."""
    match test:
        case AllOf(parts) | AnyOf(parts):
            joint, empty = (" AND ", "true") if isinstance(test, AllOf) else (" OR ", "false")
            found = [condition_sql(part, kinds) for part in parts]
            return f"({joint.join(text for text, _ in found) or empty})", [value for _, some in found for value in some]
        case Not(part):
            text, values = condition_sql(part, kinds)
            return f"(NOT {text})", values
        # What is contained can be looked up, where somebody gives the table a GIN index of meta.
        case HoldsElement(key, element):
            return "COALESCE(meta @> %s::jsonb, false)", [json.dumps({_stored(key): [_stored(element)]})]
        case TextIs(key, "=", wanted):
            return "COALESCE(meta @> %s::jsonb, false)", [json.dumps({_stored(key): _stored(wanted)})]
        case TextIs(key, sign, wanted):
            return (
                f'COALESCE((meta ->> %s::text) COLLATE "C" {SIGNS[sign]} %s::text, false)',
                [_stored(key), _stored(wanted)],
            )
        case InRange():
            return _range_sql(test, kinds)
    raise AssertionError(test)


def _range_sql(test: InRange, kinds: Mapping[str, str]) -> tuple[str, list[object]]:
    """Dates as whole numbers, for 64-bit floats do not tell apart the microseconds of all years."""
    kind, as_value = ("bigint", int) if kinds.get(test.key) == DATE else ("float8", float)
    if test.low is not None and test.low == test.high and test.with_low and test.with_high:
        return f"COALESCE((meta ->> %s::text)::{kind} = %s::{kind}, false)", [_stored(test.key), as_value(test.low)]
    signs = (">=" if test.with_low else ">", test.low), ("<=" if test.with_high else "<", test.high)
    bounds = [(sign, as_value(bound)) for sign, bound in signs if bound is not None]
    if not bounds:
        return "COALESCE(meta ->> %s::text IS NOT NULL, false)", [_stored(test.key)]
    texts = [f"(meta ->> %s::text)::{kind} {sign} %s::{kind}" for sign, _ in bounds]
    values: list[object] = [value for _, bound in bounds for value in (_stored(test.key), bound)]
    return f"COALESCE({' AND '.join(texts)}, false)", values


def _stored(text: str) -> str:
    return utf8(escaped(text)).decode()
