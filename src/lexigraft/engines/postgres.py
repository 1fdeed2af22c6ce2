"""A collection in PostgreSQL, as a table with a sparse vector of pgvector (0.7 or newer) a row.

    postgresql://USER:PASSWORD@HOST:5432/DATABASE/NAME?partitions=8

Searches are exact: every row's dot product is computed, by as many processes as the server lends, over the partitions
of the table NAME. Its description lies in NAME__lexigraft.

That is work for every row: millions a server, not billions.

More than one server, as PostgreSQL's documentation has it (it is not tried here): a partition may be a foreign table of
another server (CREATE FOREIGN TABLE ... PARTITION OF ..., with postgres_fdw), but not where the partitioned table has a
UNIQUE index, as a primary key is; and postgres_fdw has no INSERT ... ON CONFLICT DO UPDATE. Therefore each server is
loaded by itself, as a collection like this one with a part of the rows, and a further server gets a partitioned table
without a key, whose partitions are foreign tables, with a copy of NAME__lexigraft; there one only searches. Those
foreign servers need the option `extensions 'vector'`: an operator of an extension that is not named there is computed
on this side, and all vectors travel.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import Address
from lexigraft.engines.conditions import as_test
from lexigraft.engines.engine import Description, EngineError, EngineHit, Row
from lexigraft.engines.postgres_connections import Connections
from lexigraft.engines.postgres_errors import server_of
from lexigraft.engines.postgres_rows import copy_bytes, escaped, unescaped, utf8, vector_text
from lexigraft.engines.postgres_sql import SCAN_SETTINGS, search_sql, sidecar_of, statements
from lexigraft.search.conditions import Condition

OLDEST = (0, 7, 0)  # of pgvector: the first with sparse vectors
MOST_PARTITIONS = 1024


class PostgresEngine:
    """The table at an address; nothing is asked of the server before the first call."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connections = Connections(address)
        self._partitions = _partitions(address)
        self._sql = statements(address.name, self._partitions)

    def create(self, description: Description) -> None:
        made = statements(self._address.name, self._partitions, description.n_terms).create
        with self._connections.transaction() as connection:
            _require_pgvector(connection, self._address)
            for statement in made:
                connection.execute(statement)
            connection.execute(self._sql.note, [_json(description)])

    def describe(self) -> Description | None:
        with self._connections.transaction() as connection:
            return self._description(connection) if self._is_there(connection) else None

    def load(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        with self._connections.transaction() as connection:
            data = copy_bytes(rows, *self._shape(connection))
            connection.execute(self._sql.stage)
            with connection.cursor().copy(self._sql.copy) as copy:
                copy.write(data)
            connection.execute(self._sql.insert)

    def note(self, description: Description) -> None:
        with self._connections.transaction() as connection:
            connection.execute(self._sql.note, [_json(description)])

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        with self._connections.transaction() as connection:
            n_terms, kinds = self._shape(connection)
            statement, values = search_sql(self._sql.search, as_test(where, kinds), kinds)
            connection.execute(SCAN_SETTINGS, [self._partitions, f'"{self._address.name}"'])
            found = connection.execute(statement, [vector_text(term_ids, weights, n_terms), *values, k]).fetchall()
        # Rows without a common term come last, with 0: to leave them out there, the server would compute all twice.
        return [EngineHit(unescaped(row_id), -distance, title) for row_id, title, distance in found if distance < 0]

    def delete(self, row_ids: Sequence[str]) -> None:
        with self._connections.transaction() as connection:
            connection.execute(self._sql.delete, [[utf8(escaped(row_id)).decode() for row_id in row_ids]])

    def count(self) -> int:
        with self._connections.transaction() as connection:
            return int(connection.execute(self._sql.count).fetchone()[0])

    def drop(self) -> None:
        """A table that has no description beside it is not ours, and stays."""
        with self._connections.transaction() as connection:
            if self._is_there(connection):
                connection.execute(self._sql.drop)

    def close(self) -> None:
        self._connections.close()

    def _is_there(self, connection: Any) -> bool:
        quoted = f'"{sidecar_of(self._address.name)}"'
        return bool(connection.execute(self._sql.is_there, [quoted]).fetchone()[0])

    def _description(self, connection: Any) -> Description:
        found = connection.execute(self._sql.read).fetchone()
        return Description.of(None if found is None else found[0], str(self._address))

    def _shape(self, connection: Any) -> tuple[int, dict[str, str]]:
        """How many terms there are, and the kinds of metadata. Read every time: another process may have dropped the
        collection, and made it of another index."""
        found = connection.execute(self._sql.shape).fetchone()
        if found is None:
            raise EngineError(f"{self._address} has no description; drop it, and load it again")
        n_terms, kinds = found
        return n_terms, kinds


def _require_pgvector(connection: Any, address: Address) -> None:
    from psycopg import errors

    where, wanted = f"{address.database or 'the database'} of {server_of(address)}", ".".join(map(str, OLDEST))
    version = connection.info.server_version
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise EngineError(
            f"{where} is PostgreSQL {version // 10000} without pgvector, and {wanted} or newer is needed; install that "
            "package on the server, then run CREATE EXTENSION vector"
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


def _partitions(address: Address) -> int:
    given = address.option("partitions", "8")
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= MOST_PARTITIONS:
        raise SettingError(f"partitions = {given!r} is not allowed: 1 to {MOST_PARTITIONS}")
    return int(given)


def _json(description: Description) -> str:
    return utf8(json.dumps(description.as_dict(), ensure_ascii=False)).decode()
