"""Who may ask: the names a server is called by, the pages that may call it, and keys.

A page of somebody else, open in the user's browser, can send requests to any address that the user's machine reaches.
It cannot choose the Host and Origin that the browser sends with them: so those are checked.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from lexigraft.core.errors import InputError, SettingError
from lexigraft.serve.refused import RefusedError

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")  # what is no name, but all addresses
ANY = "*"
SHORTEST_KEY = 16  # characters: 80 random bits
BEARER = "bearer "
USUAL_PORTS = {"http": 80, "https": 443}
# A name or an address of four numbers; or one of the longer ones in brackets.
HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^:\[\]]+))(?::[0-9]*)?")
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
        origin = headers.get("origin")
        if origin is not None:
            self._check_origin(origin, headers["host"])
        self._check_site(origin, headers)
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

    def _check_site(self, origin: str | None, headers: Mapping[str, str]) -> None:
        """Pictures and scripts are fetched without an Origin: browsers tell of them otherwise. Links are followed."""
        is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if is_foreign and headers.get("sec-fetch-mode") != "navigate" and not self.may_share_with(origin):
            raise RefusedError(403, "pages of other origins may not ask; start the server with --allow-origin ORIGIN")

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
    """A Host header without its port, in small letters; of an address in brackets, without them. What has no such form
    is left as it is, which no server is called."""
    found = HOST.fullmatch(host.lower())
    name = host.lower() if found is None else found["address"] or found["name"]
    try:
        return ip_address(name).compressed
    except ValueError:
        return name


def access_for(
    host: str, allowed_hosts: Iterable[str] = (), origins: Iterable[str] = (), key_file: Path | None = None
) -> Access:
    """What the options of a server mean."""
    names = {*LOCAL, *map(host_name, allowed_hosts)}
    if host not in EVERYWHERE:
        names.add(host_name(host))
    keys = () if key_file is None else read_keys(key_file)
    return Access(frozenset(names), frozenset(map(as_browsers_write, origins)), keys)


def as_browsers_write(origin: str) -> str:
    """An origin in small letters, and without the port that goes without saying."""
    if origin == ANY:
        return ANY
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc or origin[-1:] in "?#"
    if parts.scheme not in USUAL_PORTS or not parts.hostname or is_more:
        raise SettingError(f"--allow-origin {origin!r} is not allowed: an origin such as https://example.org, or *")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}" + ("" if port in (None, USUAL_PORTS[parts.scheme]) else f":{port}")


def read_keys(file: Path) -> tuple[bytes, ...]:
    """The keys of a file, one a line; lines that begin with # are left out."""
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{file} cannot be read ({said}); give a file with a key on each line") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise InputError(f"{file} has no key; write one of at least {SHORTEST_KEY} characters on each line")
    if any(len(key) < SHORTEST_KEY for key in keys):
        raise InputError(f"{file} has a key of fewer than {SHORTEST_KEY} characters, which can be guessed")
    if not all(key.isascii() and key.isprintable() for key in keys):
        raise InputError(f"{file} has a key with characters that no header can hold; take letters and digits of ASCII")
    return tuple(key.encode() for key in keys)
