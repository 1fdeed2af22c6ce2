"""Connections to PostgreSQL that threads share: each transaction has one to itself, and gives it back."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Any

from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.core.installing import install_extra
from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError
from lexigraft.engines.postgres_errors import PORT, while_connecting, while_working

MOST = 16  # at a time, of the 100 that a server usually takes
PASSED_ON = ("sslmode", "sslrootcert", "sslcert", "sslkey")  # options of an address that libpq reads
# A machine that vanished is noticed after a minute, and not after the two hours of the system.
LIVENESS = {
    "connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}  # fmt: skip


class Connections:
    """Those that are not in use wait here; one that broke is not given out again."""

    def __init__(self, address: Address) -> None:
        self._psycopg = _client()
        self._address = address
        self._idle: list[Any] = []
        self._lock, self._free = Lock(), BoundedSemaphore(MOST)
        self._parameters = _parameters(address)

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A connection in a transaction, which is kept where the block ends well, and undone otherwise."""
        with self._free:
            connection = self._take()
            try:
                with connection.transaction():
                    yield connection
            except self._psycopg.Error as error:
                raise while_working(error, self._address) from error
            finally:
                self._give_back(connection)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> Any:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if not _has_news(connection):
                return connection
            connection.close()

    def _give_back(self, connection: Any) -> None:
        if connection.closed or connection.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE:
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)

    def _connect(self) -> Any:
        try:
            # Prepared statements would not survive a pooler between us and the server (PgBouncer).
            return self._psycopg.connect(**self._parameters, autocommit=True, prepare_threshold=None)
        except self._psycopg.Error as error:
            raise while_connecting(error, self._address) from error


def _has_news(connection: Any) -> bool:
    """Whether something came on a connection that nobody asked anything: the server's farewell."""
    watched = select.poll()
    watched.register(connection.fileno(), select.POLLIN)
    return bool(watched.poll(0))


def _client() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("PostgreSQL", "psycopg", install_extra("engines")) from error
    return psycopg


def _parameters(address: Address) -> dict[str, object]:
    """What is not given is left to libpq, which asks the environment (PGUSER, PGPASSWORD) and ~/.pgpass."""
    unknown = [name for name, _ in address.options if name not in (*PASSED_ON, "partitions", "shards")]
    if unknown:
        raise SettingError(
            f"{unknown[0]!r} is no option of PostgreSQL's address; known: partitions, shards, {', '.join(PASSED_ON)}"
        )
    if not address.host:
        raise EngineError("PostgreSQL is always a server: postgresql://USER@HOST/DATABASE/NAME")
    given = {"user": address.user, "password": address.secret, "dbname": address.database}
    return {
        **LIVENESS,
        **{name: address.option(name) for name in PASSED_ON if address.option(name)},
        **{name: value for name, value in given.items() if value},
        "host": address.host, "port": address.port or PORT,
        "client_encoding": "utf8", "application_name": "lexigraft",
    }  # fmt: skip
