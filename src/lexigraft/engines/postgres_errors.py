"""What PostgreSQL and its client say, in one line and with what to do."""

from typing import Any

import regex

from lexigraft.engines.address import SECRET, Address
from lexigraft.engines.engine import EngineError, UnreachableError

PORT = 5432
# Conditions that pass (https://www.postgresql.org/docs/current/errcodes-appendix.html): lost connections, a server
# that starts, stops or has too many clients, transactions that were in each other's way.
PASSING = ("08", "57P", "53300", "40", "55P03")
REMEDIES = {
    "53100": "the disk of the server is full; make room there, and repeat the command",
    "53200": "the server is out of memory; try again with fewer at a time",
    "42P01": "there is no such collection; load it",
    "42P07": "a table of this name is there already; drop it first, or give another name",
    "42501": "the user may not; have the database's owner grant it",
    "25006": "this server only reads; give the address of the one that is written to",
    "54000": "a row is larger than PostgreSQL takes: an id has 2,700 bytes at most",
}
_WAITING = (
    "starting up", "shutting down", "terminating connection", "recovery", "not yet accepting", "too many",
    "connection slots",
)  # fmt: skip
_REFUSING = ("no password supplied", "SSL was required", "certificate", "sslmode", "authentication")
_REASON = regex.compile(r".*failed: +(.+)")  # the last of a line; there is a line for each of a host's addresses
_NO_SHARD = regex.compile(r'could not connect to server "(.+)"')
_ANSWER = regex.compile(r"FATAL: +(.+)")  # what the server itself says


def server_of(address: Address) -> str:
    return f"{f'[{address.host}]' if ':' in address.host else address.host}:{address.port or PORT}"


def while_connecting(error: Exception, address: Address) -> EngineError:
    """libpq gives no code for a connection that failed, only words."""
    answers = _ANSWER.findall(str(error))
    reason = one_line((answers or _REASON.findall(str(error)) or [str(error)])[-1], address)
    where = server_of(address)
    refuses = bool(answers) or any(word in reason for word in _REFUSING)
    if not refuses or any(word in reason for word in _WAITING):
        return UnreachableError(f"{where} does not answer ({reason}); is the server running?")
    if "password" in reason or "authentication" in reason:
        return EngineError(
            f"{where} refuses ({reason}); user and password come from the address, {SECRET}, PGPASSWORD or ~/.pgpass"
        )
    return EngineError(f"{where} refuses ({reason}); look at the address {address}")


def while_working(error: Any, address: Address) -> EngineError:
    """`error` is one of psycopg's."""
    state = error.sqlstate
    said = one_line(error.diag.message_primary or str(error), address)
    where = server_of(address)
    if (shard := _NO_SHARD.match(error.diag.message_primary or "")) is not None:
        return _no_shard(where, shard[1], error.diag.message_detail or said, address)
    if state is None or state.startswith(PASSING):
        return UnreachableError(f"{where} does not answer ({said}); is the server running?")
    remedy = REMEDIES.get(state, f"PostgreSQL's code {state}")
    return EngineError(f"{address.name} at {where}: {said}; {remedy}")


def _no_shard(where: str, shard: str, detail: str, address: Address) -> EngineError:
    """What a coordinator says when postgres_fdw finds no way to a shard."""
    answers = _ANSWER.findall(detail)
    reason = one_line((answers or _REASON.findall(detail) or [detail])[-1], address)
    if "password" in reason or "authentication" in reason:
        return EngineError(f"{where} cannot log in to its shard {shard} ({reason}); mend its login: ALTER USER MAPPING")
    return UnreachableError(f"{where} does not reach its shard {shard} ({reason}); is that server running?")


def one_line(text: str, address: Address) -> str:
    line = " ".join(text.split())[:300]
    return line.replace(address.secret, "***") if address.secret else line
