"""A collection in PostgreSQL, as a table with a sparse vector of pgvector (0.7 or newer) a row.

    postgresql://USER:PASSWORD@HOST:5432/DATABASE/NAME?partitions=8

Searches are exact: every row's dot product is computed, by as many processes as the server lends, over the partitions
of the table NAME. Its description lies in NAME__lexigraft.

That is work for every row: millions a server, not billions.

More than one server is postgres_shards.py's. A table whose partitions are foreign ones, as that makes them, can be
searched here, too, through the coordinator: exactly, and slower.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import Address
from lexigraft.engines.conditions import as_test
from lexigraft.engines.engine import Description, EngineError, EngineHit, Row
from lexigraft.engines.postgres_connections import Connections
from lexigraft.engines.postgres_errors import server_of
from lexigraft.engines.postgres_extensions import require_pgvector
from lexigraft.engines.postgres_rows import copy_bytes, stored_id, unescaped, utf8, vector_text
from lexigraft.engines.postgres_shard_places import recorded_shards
from lexigraft.engines.postgres_sql import COUNT_SETTINGS, SCAN_SETTINGS, search_sql, sidecar_of, statements
from lexigraft.search.conditions import Condition

MOST_PARTITIONS = 1024
PROCESSES = 8  # that scan a part, at most, and a table in one partition


class PostgresEngine:
    """The table at an address; nothing is asked of the server before the first call."""

    def __init__(self, address: Address, is_part: bool = False) -> None:
        """`is_part`: it is one shard of several, and not partitioned further."""
        self._address = address
        self._connections = Connections(address)
        self._partitions = 1 if is_part else _partitions(address)
        self._processes = PROCESSES if is_part else self._partitions
        self._sql = statements(address.name, self._partitions)

    def create(self, description: Description) -> None:
        made = statements(self._address.name, self._partitions, description.n_terms).create
        with self._connections.transaction() as connection:
            require_pgvector(connection, self._address)
            for statement in made:
                connection.execute(statement)
            connection.execute(self._sql.note, [description_json(description)])

    def describe(self) -> Description | None:
        with self._connections.transaction() as connection:
            return self._description(connection) if self._is_there(connection) else None

    def load(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        with self._connections.transaction() as connection:
            shape = self._shape(connection)
            self._require_whole(connection)
            data = copy_bytes(rows, *shape)
            connection.execute(self._sql.stage)
            with connection.cursor().copy(self._sql.copy) as copy:
                copy.write(data)
            connection.execute(self._sql.insert)

    def note(self, description: Description) -> None:
        with self._connections.transaction() as connection:
            connection.execute(self._sql.note, [description_json(description)])

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        with self._connections.transaction() as connection:
            n_terms, kinds = self._shape(connection)
            statement, values = search_sql(self._sql.search, as_test(where, kinds), kinds)
            connection.execute(SCAN_SETTINGS, [self._processes, self._quoted()])
            found = connection.execute(statement, [vector_text(term_ids, weights, n_terms), *values, k]).fetchall()
        # Rows without a common term come last, with 0: to leave them out there, the server would compute all twice.
        return [EngineHit(unescaped(row_id), -distance, title) for row_id, title, distance in found if distance < 0]

    def delete(self, row_ids: Sequence[str]) -> None:
        with self._connections.transaction() as connection:
            connection.execute(self._sql.delete, [[stored_id(row_id) for row_id in row_ids]])

    def count(self) -> int:
        with self._connections.transaction() as connection:
            connection.execute(COUNT_SETTINGS)
            return int(connection.execute(self._sql.count).fetchone()[0])

    def drop(self) -> None:
        """A table that has no description beside it is not ours, and stays."""
        with self._connections.transaction() as connection:
            if self._is_there(connection):
                self._require_whole(connection)
                connection.execute(self._sql.drop)

    def close(self) -> None:
        self._connections.close()

    def login(self) -> tuple[str, str, str]:
        """The user and password that this took, those of ~/.pgpass included, and the schema of what is made."""
        with self._connections.transaction() as connection:
            (schema,) = connection.execute("SELECT current_schema()").fetchone()
            return connection.info.user, connection.info.password, schema

    def _quoted(self) -> str:
        return f'"{self._address.name}"'

    def _require_whole(self, connection: Any) -> None:
        """Raise where the rows lie in shards: there, they are written by whoever knows all of them."""
        if shards := recorded_shards(connection, self._quoted()):
            raise EngineError(
                f"{self._address.name} at {server_of(self._address)} has its rows in shards; give its whole address: "
                f"{self._address}?shards={','.join(map(str, shards))}"
            )

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


def _partitions(address: Address) -> int:
    given = address.option("partitions", "8")
    if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= MOST_PARTITIONS:
        raise SettingError(f"partitions = {given!r} is not allowed: 1 to {MOST_PARTITIONS}")
    return int(given)


def description_json(description: Description) -> str:
    return utf8(json.dumps(description.as_dict(), ensure_ascii=False)).decode()
