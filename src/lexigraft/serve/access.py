"""Who may ask: the names a server is called by, the pages that may call it, and keys.

A page of somebody else, open in the user's browser, can send requests to any address that the user's machine reaches.
It cannot choose the Host and Origin that the browser sends with them: so those are checked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from urllib.parse import urlsplit

from lexigraft.core.errors import InputError, SettingError
from lexigraft.serve.refused import RefusedError

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")  # what is no name, but all addresses
ANY = "*"
SHORTEST_KEY = 16  # characters: 80 random bits
BEARER = "bearer "
OPEN_PATHS = ("/", "/healthz")  # the page asks for a key, so it must be there without one
OPEN_FOLDER = "/page/"


@dataclass(frozen=True)
class Access:
    """Names without ports, origins as browsers write them, keys as bytes."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    keys: tuple[bytes, ...] = ()

    def check(self, path: str, headers: Mapping[str, str]) -> None:
        """Raise `RefusedError` unless a request may be answered; `headers` have small letters."""
        self._check_host(headers.get("host", ""))
        if (origin := headers.get("origin")) is not None:
            self._check_origin(origin, headers["host"])
        if self.keys and path not in OPEN_PATHS and not path.startswith(OPEN_FOLDER):
            self._check_key(headers)

    def may_share_with(self, origin: str | None) -> bool:
        """Whether the pages of an origin other than the server's own may read its answers."""
        return origin is not None and (origin in self.origins or ANY in self.origins)

    def _check_host(self, host: str) -> None:
        if not host:
            raise RefusedError(400, "the Host header is missing")
        if ANY not in self.hosts and host_name(host) not in self.hosts:
            raise RefusedError(403, "this server does not go by that name; start it with --allow-host NAME")

    def _check_origin(self, origin: str, host: str) -> None:
        try:
            own = urlsplit(origin).netloc.lower() == host.lower()
        except ValueError:
            own = False
        if not own and not self.may_share_with(origin):
            raise RefusedError(403, "pages of that origin may not ask; start the server with --allow-origin ORIGIN")

    def _check_key(self, headers: Mapping[str, str]) -> None:
        given = headers.get("x-api-key", "")
        said = headers.get("authorization", "")
        if said[: len(BEARER)].lower() == BEARER:
            given = said[len(BEARER) :].strip()
        # Every key is compared, and in a time that does not tell how much of it was right.
        if not sum(compare_digest(given.encode("utf-8", "replace"), key) for key in self.keys):
            raise RefusedError(
                401, "a key is needed: send it as Authorization: Bearer KEY", {"WWW-Authenticate": "Bearer"}
            )


def host_name(host: str) -> str:
    """A Host header without its port, in small letters; of an address in brackets, without them."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.rpartition(":")[2].isdecimal() and ":" in host else host.lower()


def access_for(
    host: str, allowed_hosts: Iterable[str] = (), origins: Iterable[str] = (), key_file: Path | None = None
) -> Access:
    """What the options of a server mean."""
    names = {*LOCAL, *(host_name(name) for name in allowed_hosts)}
    if host not in EVERYWHERE:
        names.add(host.lower())
    for origin in origins:
        parts = urlsplit(origin)
        if origin != ANY and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/")):
            raise SettingError(f"--allow-origin {origin!r} is not allowed: an origin such as https://example.org, or *")
    keys = () if key_file is None else read_keys(key_file)
    return Access(frozenset(names), frozenset(origin.rstrip("/") for origin in origins), keys)


def read_keys(file: Path) -> tuple[bytes, ...]:
    """The keys of a file, one a line; lines that begin with # are left out."""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{file} cannot be read ({said}); give a file with a key on each line") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise InputError(f"{file} has no key; write one of at least {SHORTEST_KEY} characters on each line")
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise InputError(f"{file} has a key of fewer than {SHORTEST_KEY} characters, which can be guessed")
    return tuple(key.encode() for key in keys)
