"""The adapter that an address asks for."""

from lexigraft.engines.address import Address
from lexigraft.engines.engine import Engine


def open_engine(address: Address) -> Engine:
    """The collection at an address, which may not be there yet. Nothing is asked of the engine before the first use,
    and only the client of this one is imported."""
    if address.scheme == "qdrant":
        from lexigraft.engines.qdrant import QdrantEngine

        return QdrantEngine(address)
    if address.scheme == "milvus":
        from lexigraft.engines.milvus import MilvusEngine

        return MilvusEngine(address)
    if any(name == "shards" for name, _ in address.options):
        from lexigraft.engines.postgres_shards import ShardedPostgresEngine

        return ShardedPostgresEngine(address)
    from lexigraft.engines.postgres import PostgresEngine

    return PostgresEngine(address)
