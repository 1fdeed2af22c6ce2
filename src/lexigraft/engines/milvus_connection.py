"""The connection to Milvus, to a server or to Milvus Lite, and what its errors mean."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexigraft.engines.address import Address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.messages import client_package, no_answer, not_there, one_line, whole_option, yes_or_no

PORT = 19530
TIMEOUT = 30  # seconds, in which the client tries again itself
OLDEST = (2, 5)  # the first server with exact sparse search by DAAT_MAXSCORE
NOT_FOUND, DISK_FULL, DENIED = 100, 6, 9
LATER = (2, 4, 8)  # unavailable, too many requests, too fast
_users: Counter[Path] = Counter()  # engines of this process, by file: they share the one process of Milvus Lite
_counting = threading.Lock()


def place_of(address: Address) -> str:
    return str(file_of(address)) if address.is_local else f"{address.host}:{address.port or PORT}"


def file_of(address: Address) -> Path:
    """The file of Milvus Lite."""
    assert address.folder is not None, "a server has no file here"
    return address.folder if address.folder.suffix == ".db" else address.folder / "milvus.db"


def is_made(address: Address) -> bool:
    """Whether there can be a collection: to open a file that is not there would make it."""
    return address.folder is None or file_of(address).exists()


def connect(address: Address) -> Any:
    """A client; of a server, one that has answered and is new enough."""
    package = client_package("pymilvus", "Milvus")
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs every error, with a traceback
    if address.folder is not None:
        return _open_file(package, address)
    protocol = "https" if yes_or_no(address, "https") else "http"
    host = f"[{address.host}]" if ":" in address.host else address.host
    secret = f"{address.user}:{address.secret}" if address.user else address.secret
    client = package.MilvusClient(
        uri=f"{protocol}://{host}:{address.port or PORT}", token=secret, db_name=address.database,
        timeout=timeout_of(address),
    )  # fmt: skip
    version = str(client.get_server_version(timeout=timeout_of(address))).removeprefix("v")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) == 2 and numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise EngineError(f"{place_of(address)} is Milvus {version}; {wanted} or later is needed: update the server")
    return client


def _open_file(package: Any, address: Address) -> Any:
    client_package("milvus_lite", "Milvus in files of this machine")
    file = file_of(address)
    file.parent.mkdir(parents=True, exist_ok=True)
    with _counting:
        client = package.MilvusClient(str(file))
        _users[file] += 1
    return client


def disconnect(client: Any, address: Address) -> None:
    """Close a client; the last one of a file also ends the process of Milvus Lite."""
    client.close()
    if not address.is_local:
        return
    file = file_of(address)
    with _counting:
        _users[file] -= 1
        if not _users[file]:
            client_package("milvus_lite.server_manager", "Milvus").server_manager_instance.release_server(str(file))


def timeout_of(address: Address) -> int:
    return whole_option(address, "timeout") or TIMEOUT


@contextmanager
def told(address: Address) -> Iterator[None]:
    """Turn what pymilvus raises into an engine's errors."""
    exceptions = client_package("pymilvus.exceptions", "Milvus")
    grpc = client_package("grpc", "Milvus")
    try:
        yield
    except exceptions.MilvusException as error:
        cause = error.__cause__  # of a connection that was refused, only this says why
        if isinstance(cause, grpc.RpcError):
            raise _refused(error, cause.code(), cause.details() or error.message, address) from error
        raise _refused(error, error.code, error.message, address) from error
    except grpc.RpcError as error:
        raise _refused(error, error.code(), error.details() or error.code().name, address) from error
    except (OSError, RuntimeError) as error:
        if isinstance(error, EngineError) or not address.is_local:
            raise
        raise EngineError(f"{place_of(address)} cannot be used ({one_line(error, address)})") from error


def _refused(error: Exception, code: Any, message: str, address: Address) -> EngineError:
    place, said = place_of(address), one_line(message, address)
    name = getattr(code, "name", "")  # of a state of gRPC
    lower = said.lower()
    if name in ("UNAUTHENTICATED", "PERMISSION_DENIED") or "auth check failure" in lower or "unauthenticated" in lower:
        remedy = "give them in the address, milvus://USER:PASSWORD@HOST/NAME, or a token in LEXIGRAFT_ENGINE_SECRET"
        return EngineError(f"{place} does not accept the name and password, or the token; {remedy}")
    if address.is_local and (
        "open local milvus failed" in lower or type(error).__name__ == "ConnectionConfigException"
    ):
        return EngineError(f"{place} cannot be opened ({said}); does another process use it? A server takes many")
    if name in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or "fail connecting" in lower:
        return no_answer(place, said, address)
    if name == "RESOURCE_EXHAUSTED" or code in LATER or "not ready" in lower:
        return UnreachableError(f"{place} has too much to do, or is just starting ({said})")
    if address.is_local and name == "UNKNOWN":  # all that Milvus Lite says of a write that failed
        return EngineError(f"{place} cannot be written, or is damaged ({said}); is the disk full?")
    if code == NOT_FOUND:
        return not_there(address)
    if code in (DISK_FULL, DENIED) or "space left" in lower:
        return EngineError(f"{place} takes no more, its disk or memory is full ({said}); make room, and repeat")
    return EngineError(f"{place} refuses ({said})")
