"""A collection in several servers of PostgreSQL: its rows in shards, and over them a coordinator with postgres_fdw.

    postgresql://USER:PASSWORD@HOST/DATABASE/NAME?shards=HOST2,HOST3:5433/OTHER

Shard i has a collection NAME__si of its own (postgres.py). The coordinator has the description, NAME__lexigraft, and
the table NAME, whose partitions are those tables, as foreign ones. PostgreSQL has no key over foreign partitions, and
postgres_fdw no INSERT ... ON CONFLICT DO UPDATE. Therefore rows are written straight to their shards, each of which has
the key: a row that is written twice is there once. No transaction covers several servers, and none is needed: a batch
of which one shard's part is missing was not written, and is written again.

Searches, too, go straight to the shards, all at once, and the k best of each are merged, which is exact. Through the
coordinator, a shard sorts all of its rows for every query (its LIMIT is not handed on), one shard after the other, and
without help of further processes (its rows are read by a cursor). Whoever has SQL alone, or reaches the coordinator
alone, searches there all the same: the rows found are the same.
"""

import heapq
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexigraft.engines.address import Address
from lexigraft.engines.engine import Description, EngineError, EngineHit, Row, UnreachableError
from lexigraft.engines.postgres import PostgresEngine, description_json
from lexigraft.engines.postgres_connections import LIVENESS, MOST, Connections
from lexigraft.engines.postgres_errors import server_of
from lexigraft.engines.postgres_extensions import require_pgvector, require_postgres_fdw
from lexigraft.engines.postgres_rows import stored_id
from lexigraft.engines.postgres_shard_places import place_of, recorded_shards, shards_of
from lexigraft.engines.postgres_shards_sql import Reached, drop_server, shard_statements, sharded_statements
from lexigraft.engines.postgres_sql import sidecar_of
from lexigraft.search.conditions import Condition

MOST_THREADS = 128
T = TypeVar("T")


class ShardedPostgresEngine:
    """The table at an address that names shards; nothing is asked of any server before the first call."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connections = Connections(address)
        self._places = shards_of(address)
        self._shards = [PostgresEngine(place, is_part=True) for place in self._places]
        self._sql = sharded_statements(address.name, len(self._shards))
        self._pool = ThreadPoolExecutor(min(MOST_THREADS, MOST * len(self._shards)), "lexigraft-shards")

    def create(self, description: Description) -> None:
        """The coordinator's part is kept when all shards have theirs; what was made there before is undone."""
        made: list[PostgresEngine] = []
        with self._connections.transaction() as connection:  # kept first, for a shard may lie in the same database
            require_pgvector(connection, self._address)
            require_postgres_fdw(connection, self._address)
        try:
            with self._connections.transaction() as connection:
                self._create(connection, description, made)
        except BaseException:
            with suppress(EngineError):  # what stays is empty, and the next creation takes it
                if self.describe() is None:  # the coordinator may have kept its part, and died before it said so
                    for shard in made:
                        shard.drop()
            raise

    def describe(self) -> Description | None:
        with self._connections.transaction() as connection:
            if not self._is_there(connection):
                return None
            self._require_same_shards(connection)
            found = connection.execute(self._sql.read).fetchone()
        return Description.of(None if found is None else found[0], str(self._address))

    def load(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        ids = [stored_id(row.row_id) for row in rows]
        with self._connections.transaction() as connection:
            self._require_same_shards(connection)
            number_of = dict(connection.execute(self._sql.route, [ids]).fetchall())
        parts: list[list[Row]] = [[] for _ in self._shards]
        for stored, row in zip(ids, rows, strict=True):
            parts[number_of[stored]].append(row)
        self._gather(
            [self._pool.submit(shard.load, part) for shard, part in zip(self._shards, parts, strict=True) if part]
        )

    def note(self, description: Description) -> None:
        with self._connections.transaction() as connection:
            connection.execute(self._sql.note, [description_json(description)])

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        found = self._ask(lambda shard: shard.search(term_ids, weights, k, where))
        return heapq.nsmallest(k, (hit for hits in found for hit in hits), key=lambda hit: (-hit.score, hit.row_id))

    def delete(self, row_ids: Sequence[str]) -> None:
        """Every shard is told of all: those that are not there are passed over. None is told before it is known that
        these are still the shards: of others, rows would be gone when the error comes."""
        with self._connections.transaction() as connection:
            self._require_same_shards(connection)
        self._gather([self._pool.submit(shard.delete, row_ids) for shard in self._shards])

    def count(self) -> int:
        return sum(self._ask(lambda shard: shard.count()))

    def drop(self) -> None:
        """Nothing is dropped where a shard does not answer. Shards go first: as long as the coordinator knows of them,
        this can be repeated."""
        with self._connections.transaction() as connection:
            if not self._is_there(connection):
                return
        self._ask(lambda shard: shard.describe())
        for shard in self._shards:
            shard.drop()
        with self._connections.transaction() as connection:
            recorded = recorded_shards(connection, self._quoted())
            connection.execute(self._sql.drop)
            for shard_there in recorded:
                connection.execute(drop_server(shard_there.server))

    def close(self) -> None:
        self._pool.shutdown()
        for shard in self._shards:
            shard.close()
        self._connections.close()

    def _create(self, connection: Any, description: Description, made: list[PostgresEngine]) -> None:
        name, n_shards = self._address.name, len(self._shards)
        statements = sharded_statements(name, n_shards, description.n_terms)
        for statement in statements.create:
            connection.execute(statement)
        connection.execute(statements.note, [description_json(description)])
        for number, (shard, place) in enumerate(zip(self._shards, self._places, strict=True)):
            part = replace(
                description, index=f"part {number} of {n_shards} of {self._address}", query_encoder={"kind": "none"}
            )
            if shard.describe() == part and not shard.count():
                shard.drop()  # a creation was stopped before the coordinator knew of it
            shard.create(part)
            made.append(shard)
            for statement in shard_statements(name, number, n_shards, _reached(place, shard)):
                connection.execute(statement)
        for statement in statements.reach:
            connection.execute(statement)

    def _ask(self, do: Callable[[PostgresEngine], T]) -> list[T]:
        """What each shard says, all asked at once, while the coordinator is asked whether these are still the shards:
        of a collection that was made anew with others, the answers would be of a part alone. For what only reads."""
        asked = [self._pool.submit(do, shard) for shard in self._shards]
        try:
            with self._connections.transaction() as connection:
                self._require_same_shards(connection)
        except EngineError:
            for one in asked:
                one.cancel()
            raise
        return self._gather(asked)

    def _gather(self, asked: Sequence[Future[T]]) -> list[T]:
        """All results, once all are there. Of several errors, one that does not pass by itself."""
        errors = [error for one in asked if (error := one.exception()) is not None]
        for error in sorted(errors, key=lambda error: isinstance(error, UnreachableError)):
            raise error
        return [one.result() for one in asked]

    def _is_there(self, connection: Any) -> bool:
        quoted = f'"{sidecar_of(self._address.name)}"'
        return bool(connection.execute(self._sql.is_there, [quoted]).fetchone()[0])

    def _quoted(self) -> str:
        return f'"{self._address.name}"'

    def _require_same_shards(self, connection: Any) -> None:
        found = [str(one) for one in recorded_shards(connection, self._quoted())]
        if not found and not self._is_there(connection):
            raise EngineError(f"there is no collection {self._address}; load an index into it first")
        wanted = [place_of(one) for one in self._places]
        if found != wanted:
            made = f"with shards={','.join(found)}" if found else "without shards"
            raise EngineError(
                f"{self._address.name} at {server_of(self._address)} was made {made}, and the address has "
                f"shards={','.join(wanted)}; give it as it was made, or drop that and load it again"
            )


def _reached(place: Address, shard: PostgresEngine) -> Reached:
    """As this client reached it just now."""
    user, password, schema = shard.login()
    encrypted = {"sslmode": place.option("sslmode")} if place.option("sslmode") else {}
    server = {"host": place.host, "port": str(place.port), "dbname": place.database, **encrypted}
    login = {"user": user, "password": password} if password else {"user": user}
    return Reached({**server, **{name: str(value) for name, value in LIVENESS.items()}}, login, schema, place.name)
