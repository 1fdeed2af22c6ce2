"""The servers that an address of PostgreSQL names as shards, each as the address of a collection of its own there.

    postgresql://USER:PASSWORD@HOST/DATABASE/papers?shards=HOST2,HOST3:5433/OTHER

Where a shard's port is not given, it is 5432; where its database is not, it is the address's. User and password are the
address's, too, and so are options of encryption. A host that stands there twice has two shards.
"""

from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import Address
from lexigraft.engines.postgres_connections import PASSED_ON
from lexigraft.engines.postgres_errors import PORT, server_of

OPTION = "shards"
MOST_SHARDS = 256
FORM = "?shards=HOST[:PORT][/DATABASE],HOST[:PORT][/DATABASE],..."
# Of a table whose partitions are foreign ones. From the catalogue: it is true whoever changed it, say to another host.
_RECORDED = """
SELECT server.found ->> 'host', server.found ->> 'port', server.found ->> 'dbname', foreign_server.srvname
FROM pg_inherits
JOIN pg_foreign_table ON ftrelid = inhrelid
JOIN pg_foreign_server AS foreign_server ON foreign_server.oid = ftserver,
LATERAL (SELECT jsonb_object_agg(option_name, option_value) AS found FROM pg_options_to_table(ftoptions)) AS part,
LATERAL (SELECT jsonb_object_agg(option_name, option_value) AS found FROM pg_options_to_table(srvoptions)) AS server
WHERE inhparent = to_regclass(%s)
ORDER BY substring(part.found ->> 'table_name' FROM '[0-9]+$')::integer
"""


class RecordedShard(NamedTuple):
    """As the coordinator reaches it; where somebody else made it, parts may be missing."""

    host: str | None
    port: str | None
    database: str | None
    server: str  # its name on the coordinator

    def __str__(self) -> str:
        host = self.host or "localhost"
        return f"{f'[{host}]' if ':' in host else host}:{self.port or PORT}/{self.database or ''}"


def recorded_shards(connection: Any, quoted: str) -> list[RecordedShard]:
    """The shards of a table, in their order; none where it has none, or is not there."""
    return [RecordedShard(*found) for found in connection.execute(_RECORDED, [quoted]).fetchall()]


def shards_of(address: Address) -> list[Address]:
    """One an entry of `shards`, in its order, which decides on the rows of each."""
    if address.option("partitions"):
        raise SettingError(
            "partitions and shards exclude each other: a shard is a partition; name a host twice for two"
        )
    if not address.database:
        raise SettingError("an address with shards names its database: postgresql://USER@HOST/DATABASE/NAME?shards=...")
    given = address.option(OPTION).split(",")
    if len(given) > MOST_SHARDS:
        raise SettingError(f"shards names {len(given)} servers, and {MOST_SHARDS} are allowed at most")
    passed_on = tuple((name, value) for name, value in address.options if name in PASSED_ON)
    return [
        replace(_place(text, address), name=part_of(address.name, number), options=passed_on)
        for number, text in enumerate(given)
    ]


def part_of(name: str, number: int) -> str:
    """What a shard's own collection is called."""
    return f"{name}__s{number}"


def place_of(shard: Address) -> str:
    """A shard, as messages and `shards` have it."""
    return f"{server_of(shard)}/{shard.database}"


def _place(text: str, address: Address) -> Address:
    try:
        found = urlsplit(f"//{text.strip()}")
        host, port = found.hostname, found.port
    except ValueError:  # whose words may hold a part of a password
        raise SettingError(f"shards cannot be read; write {FORM}") from None
    if found.username is not None:  # never repeated here: it may be a secret
        raise SettingError(f"shards have the address's user and password, and no '@' of their own; write {FORM}")
    database = found.path.removeprefix("/")
    if not host or "/" in database or found.query or found.fragment:
        raise SettingError(f"shards has {text!r}, which is no server; write {FORM}")
    return replace(address, host=host, port=port or PORT, database=database or address.database)
