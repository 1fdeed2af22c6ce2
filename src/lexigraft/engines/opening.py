"""An engine by its address: the adapter of its scheme, imported when it is asked for."""

from lexigraft.core.errors import MissingExtraError
from lexigraft.core.installing import install_extra
from lexigraft.engines.address import Address
from lexigraft.engines.engine import Engine

EXTRA = "engines"
CLIENTS = {"milvus": "pymilvus", "qdrant": "qdrant_client", "postgresql": "psycopg"}


def open_engine(address: Address) -> Engine:
    """The collection that `address` names, which may not be there yet."""
    raise MissingExtraError(str(address), CLIENTS[address.scheme], install_extra(EXTRA))
