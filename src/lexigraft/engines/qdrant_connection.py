"""The connection to Qdrant, and what its errors mean."""

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.messages import client_package, no_answer, not_there, one_line, whole_option, yes_or_no

PORT = 6333
TIMEOUT = 60  # seconds: a batch that waits for the disk takes longer than the client's own 5
OLDEST = (1, 10)  # the first server that answers query_points
LATER = (408, 429, 502, 503, 504)


def place_of(address: Address) -> str:
    return str(address.folder) if address.is_local else f"{address.host}:{address.port or PORT}"


def is_made(address: Address) -> bool:
    """Whether there can be a collection: to open a folder that is not there would make it."""
    return address.folder is None or (address.folder / "meta.json").exists()


def connect(address: Address) -> Any:
    """A client; of a server, one that has answered and is new enough."""
    package = client_package("qdrant_client", "Qdrant")
    if address.folder is not None:
        return package.QdrantClient(path=str(address.folder), force_disable_check_same_thread=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a key goes over http, which the address asks for
        client = package.QdrantClient(
            host=address.host, port=address.port or PORT, https=yes_or_no(address, "https"),
            api_key=address.secret or None, timeout=whole_option(address, "timeout") or TIMEOUT,
            check_compatibility=False,
        )  # fmt: skip
    version = str(client.info().version)
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise EngineError(f"{place_of(address)} is Qdrant {version}; {wanted} or later is needed: update the server")
    return client


@contextmanager
def as_one_write(client: Any, name: str) -> Iterator[None]:
    """Have files of this machine wait for the disk once for all that is written inside, and not once a point, which is
    what qdrant-client does: SQLite appends to its log, and the log is brought to the disk at the end."""
    collection = getattr(getattr(client, "_client", None), "collections", {}).get(name)
    files = getattr(getattr(collection, "storage", None), "storage", None)
    if not isinstance(files, sqlite3.Connection):  # a server, or a client that is made otherwise
        yield
        return
    if files.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
        files.execute("PRAGMA synchronous=NORMAL")
    yield
    files.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Turn what qdrant-client raises into an engine's errors."""
    exceptions = client_package("qdrant_client.http.exceptions", "Qdrant")
    common = client_package("qdrant_client.common.client_exceptions", "Qdrant")
    place = place_of(address)
    try:
        yield
    except exceptions.UnexpectedResponse as error:
        raise _refused(error, address) from error
    except common.ResourceExhaustedResponse as error:
        raise UnreachableError(f"{place} has too much to do ({one_line(error, address)})") from error
    except exceptions.ResponseHandlingException as error:
        raise _unanswered(error.source, address) from error
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, EngineError):
            raise
        raise EngineError(f"{place} cannot be read or written ({one_line(error, address)})") from error
    except (ValueError, RuntimeError) as error:  # of files, qdrant-client raises these
        if not address.is_local or not _is_of_qdrant(error):
            raise
        if f"Collection {address.name}" in str(error) and "not found" in str(error):
            raise not_there(address) from error
        raise EngineError(f"{place} cannot be used ({one_line(error, address)})") from error


def _is_of_qdrant(error: Exception) -> bool:
    """Whether qdrant-client raised it; Lexigraft's own errors are ValueErrors, too."""
    return type(error) in (ValueError, RuntimeError)


def _refused(error: Any, address: Address) -> EngineError:
    place, status = place_of(address), error.status_code
    said = one_line(error.content.decode("utf-8", "replace"), address)
    if status in LATER:
        return UnreachableError(f"{place} has too much to do, or is just starting ({status}: {said})")
    if status in (401, 403):
        remedy = "give it one in the address, qdrant://KEY@HOST/NAME, or in LEXIGRAFT_ENGINE_SECRET"
        return EngineError(f"{place} does not accept the key ({status}); {remedy}")
    if status == 404 and "collection" in said.lower():
        return not_there(address)
    if "space left" in said.lower():
        return EngineError(f"the disk of {place} is full; make room, and repeat the command")
    return EngineError(f"{place} refuses ({status}: {said})")


def _unanswered(source: Exception, address: Address) -> EngineError:
    place = place_of(address)
    if "SSL" in str(source) or "certificate" in str(source).lower():
        said = one_line(source, address)
        return EngineError(f"{place} does not speak https as expected ({said}); for http, add ?https=no to the address")
    if type(source).__module__.startswith(("httpx", "httpcore")):
        return no_answer(place, source, address)
    return EngineError(f"{place} gave an answer that this client cannot read ({one_line(source, address)}); "
                       "is it Qdrant, and of a version near the client's?")  # fmt: skip
