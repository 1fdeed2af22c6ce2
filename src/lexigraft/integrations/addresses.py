"""Addresses of engines as the frameworks may show them and write them down: without a password or key."""

import os
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import is_address, parse_address
from lexigraft.retrieve.retriever import Retriever

# What an address may say of its engine, none of it a secret; anything else is refused when it is opened.
OPTIONS = (
    "https", "timeout", "shards", "replicas", "on_disk", "partitions", "sslmode", "sslrootcert", "sslcert", "sslkey",
)  # fmt: skip


def shown_path(path: str | Path | Retriever) -> str:
    """What names it for people."""
    if isinstance(path, Retriever):
        return path.name
    text = os.fspath(path)
    if not is_address(text):
        return text
    try:
        return str(parse_address(text))
    except SettingError:  # it may have a secret all the same
        return f"{text.partition(':')[0]}:..."


def without_secret(path: str) -> str:
    """What opens the same where the environment has the secret (LEXIGRAFT_ENGINE_SECRET)."""
    if not is_address(path):
        return path
    address = parse_address(path)
    found = urlsplit(path)
    who, _, host = found.netloc.rpartition("@")
    user = who.partition(":")[0] if address.scheme == "postgresql" else ""  # of others, a name alone would be a key
    options = [(name, value) for name, value in address.options if name in OPTIONS and "@" not in value]
    return urlunsplit(found._replace(netloc=f"{user}@{host}" if user else host, query=urlencode(options, safe=",:/")))
