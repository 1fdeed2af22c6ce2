"""Where a collection of an engine lies, as a user writes it:

    milvus://host:19530/papers              a server; the last part is the collection's name
    qdrant://key@host:6333/papers           with a key
    postgresql://user:password@host/search/papers    a database, and a table in it
    milvus:/data/milvus.db/papers           files on this machine, where an engine can do without a server

A password or key in it is never shown. Where there is none, the environment's is taken (`SECRET`).
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import regex

from lexigraft.core.errors import SettingError

SECRET = "LEXIGRAFT_ENGINE_SECRET"  # the environment's password, key or token
SCHEMES = ("milvus", "qdrant", "postgresql")
FORM = "ENGINE://[USER:SECRET@]HOST[:PORT]/[DATABASE/]NAME, or ENGINE:/FOLDER/NAME for files of this machine"
_NAME = regex.compile(r"[A-Za-z_][A-Za-z0-9_]{0,44}")  # what every engine takes, with room for our own suffixes


@dataclass(frozen=True)
class Address:
    """`folder` is given where there is no server. `str` of it has no secret."""

    scheme: str
    name: str
    host: str = ""
    port: int | None = None
    database: str = ""
    user: str = ""
    secret: str = field(default="", repr=False)
    folder: Path | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def is_local(self) -> bool:
        return self.folder is not None

    def option(self, name: str, usual: str = "") -> str:
        return dict(self.options).get(name, usual)

    def __str__(self) -> str:
        if self.folder is not None:
            return f"{self.scheme}:{self.folder}/{self.name}"
        who = f"{self.user}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        shards = self.option("shards") if self.scheme == "postgresql" else ""  # of others, a number
        where = f"{who}{host}{port}/{f'{self.database}/' if self.database else ''}{self.name}"
        return f"{self.scheme}://{where}{f'?shards={shards}' if shards and '@' not in shards else ''}"


def is_address(text: str) -> bool:
    """Whether a user means an engine, and not a folder."""
    return text.partition(":")[0] in (*SCHEMES, "postgres") and ":/" in text


def parse_address(text: str) -> Address:
    """The address in `text`; raises `SettingError` where it is none. No message repeats a secret."""
    try:
        found = urlsplit(text)
        port = found.port
    except ValueError:  # whose words may hold a part of a password that has a '/' in it
        odd = "of '/', '?', '#' and '@' in a name or password write %2F, %3F, %23 and %40"
        raise SettingError(f"the address of an engine cannot be read; {odd}; write {FORM}") from None
    scheme = "postgresql" if found.scheme == "postgres" else found.scheme
    if scheme not in SCHEMES:
        raise SettingError(f"{scheme or 'what is given'!r} is no engine; one of {', '.join(SCHEMES)}, as {FORM}")
    if found.fragment:
        raise SettingError(f"the address of an engine has no '#'; write {FORM}")
    *parents, name = [unquote(part) for part in found.path.split("/") if part] or [""]
    if _NAME.fullmatch(name) is None:
        raise SettingError(
            f"{name!r} cannot name a collection: letters, digits and '_', 45 at most, not a digit first; write {FORM}"
        )
    options = tuple(parse_qsl(found.query, keep_blank_values=True))
    if not found.netloc:
        return Address(scheme, name, folder=_folder(scheme, found.path), options=options)
    if "@" in found.path:  # never repeated here: it may follow a secret
        raise SettingError(f"the address of an engine has an '@' after its host; in a password write %40; write {FORM}")
    if found.hostname is None or len(parents) > 1:
        raise SettingError(f"the address of an engine has a host and at most a database before the name; write {FORM}")
    user, secret = unquote(found.username or ""), unquote(found.password or "")
    if user and not secret and scheme != "postgresql":
        user, secret = "", user  # a key alone
    return Address(
        scheme, name, found.hostname, port, "".join(parents), user, secret or os.environ.get(SECRET, ""),
        options=options,
    )  # fmt: skip


def _folder(scheme: str, path: str) -> Path:
    if scheme == "postgresql":
        raise SettingError("PostgreSQL is always a server: postgresql://USER@HOST/DATABASE/NAME")
    parent = Path(unquote(path)).parent
    if not path.startswith("/") or parent == Path("/"):
        raise SettingError(f"files of an engine lie in a folder: {scheme}:/FOLDER/NAME, from the root on")
    return parent
