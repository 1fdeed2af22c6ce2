"""Qdrant's core (`qdrant-edge-py`, its server's storage and search in this process) behind the product's own adapter.

`EdgeClient` has the methods of qdrant-client that `QdrantEngine` calls, a shard a collection: points, filters, batches
and the description are the product's, and what stores and searches them is what a server of Qdrant runs. A core that
differs from the server's own way of being asked is no server: errors and versions are not tried by this.
"""

import itertools
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lexigraft.engines.address import Address
from lexigraft.engines.qdrant import TERMS, QdrantEngine

FLUSHED_EVERY = 16  # updates: where that is left out, all of them are done again when a shard is opened


def edge_engine(folder: Path, name: str = "papers") -> QdrantEngine:
    """A collection of the product's engine over shards in `folder`. It asks as it asks a server."""
    engine = QdrantEngine(Address("qdrant", name, host="in this process"))
    engine._connected = EdgeClient(folder)
    return engine


class EdgeClient:
    """Shards in the folders of `folder`, opened when they are first asked for. A shard does its own locking."""

    def __init__(self, folder: Path) -> None:
        import qdrant_edge

        self._edge, self._folder = qdrant_edge, folder
        self._shards: dict[str, Any] = {}
        self._updates = itertools.count(1)
        self._opening = threading.Lock()

    def collection_exists(self, name: str) -> bool:
        return self._marker(name).exists()

    def create_collection(self, name: str, **_: Any) -> None:
        """The mark that it is whole comes last: what a kill left of one is removed and made again."""
        place = self._folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        with self._opening:
            self._shards[name] = self._edge.EdgeShard.create(str(place / "shard"), self._config())
        self._marker(name).touch()

    def delete_collection(self, name: str) -> None:
        self._marker(name).unlink()
        with self._opening:
            if name in self._shards:
                self._shards.pop(name).close()
        shutil.rmtree(self._folder / name)

    def create_payload_index(self, name: str, key: str, schema: Any, **_: Any) -> None:
        kind = getattr(self._edge.PayloadSchemaType, schema.value.capitalize())
        self._shard(name).update(self._edge.UpdateOperation.create_field_index(key, kind))

    def upsert(self, name: str, points: Sequence[Any], **_: Any) -> None:
        """Kept when it returns: a shard writes its log first. A server flushes every few seconds."""
        own = [self._edge.Point(point.id, self._vectors(point.vector), point.payload) for point in points]
        shard = self._shard(name)
        shard.update(self._edge.UpdateOperation.upsert_points(own))
        if next(self._updates) % FLUSHED_EVERY == 0:
            shard.flush()

    def retrieve(self, name: str, ids: Sequence[Any], with_payload: bool) -> Any:
        return self._shard(name).retrieve(list(ids), with_payload, False)

    def query_points(
        self, name: str, query: Any, using: str, query_filter: Any, limit: int, with_payload: list[str]
    ) -> Any:
        asked = self._edge.Query.Nearest(self._edge.SparseVector(query.indices, query.values), using=using)
        request = self._edge.SearchRequest(
            query=asked, limit=limit, filter=self._filter(query_filter), with_payload=with_payload
        )
        return SimpleNamespace(points=self._shard(name).search(request))

    def delete(self, name: str, chosen: Any, **_: Any) -> None:
        self._shard(name).update(self._edge.UpdateOperation.delete_points(chosen.points))

    def count(self, name: str, **_: Any) -> Any:
        return SimpleNamespace(count=self._shard(name).count(self._edge.CountRequest(exact=True)))

    def all_points(self, name: str) -> dict[str, tuple[dict[str, Any], dict[int, float]]]:
        """(payload, weights by term) of every point, by the id of its row."""
        found, offset = {}, None
        while True:
            request = self._edge.ScrollRequest(offset=offset, limit=1000, with_payload=True, with_vector=True)
            records, offset = self._shard(name).scroll(request)
            for record in records:
                vector = (record.vector or {}).get(TERMS)
                terms = {} if vector is None else dict(zip(vector.indices, vector.values, strict=True))
                assert record.payload["row_id"] not in found, record.payload
                found[record.payload["row_id"]] = (record.payload, terms)
            if offset is None:
                return found

    def optimize(self, name: str) -> None:
        """What a server does by itself, all the time: plain segments become indexed ones."""
        shard = self._shard(name)
        while shard.optimize():
            pass
        shard.flush()

    def close(self) -> None:
        with self._opening:
            for shard in self._shards.values():
                shard.close()
            self._shards.clear()

    def _marker(self, name: str) -> Path:
        return self._folder / name / "is-whole"

    def _shard(self, name: str) -> Any:
        with self._opening:
            if name not in self._shards:
                if not self.collection_exists(name):
                    raise _not_found(name)
                self._shards[name] = self._edge.EdgeShard.load(str(self._folder / name / "shard"), self._config())
            return self._shards[name]

    def _config(self) -> Any:
        field = self._edge.EdgeSparseVectorParams()
        return self._edge.EdgeConfig(sparse_vectors={TERMS: field}, max_search_threads=1)

    def _vectors(self, vector: Any) -> dict[str, Any]:
        return {key: self._edge.SparseVector(one.indices, one.values) for key, one in vector.items()}

    def _filter(self, asked: Any) -> Any:
        """A `Filter` of qdrant-client as one of the core."""
        if asked is None:
            return None
        parts = {kind: getattr(asked, kind) for kind in ("must", "should", "must_not")}
        return self._edge.Filter(
            **{kind: [self._condition(one) for one in some] for kind, some in parts.items() if some is not None}
        )

    def _condition(self, asked: Any) -> Any:
        if not hasattr(asked, "key"):
            return self._filter(asked)
        if asked.range is not None:
            bounds = asked.range.model_dump(exclude_none=True)
            return self._edge.FieldCondition(key=asked.key, range=self._edge.RangeFloat(**bounds))
        return self._edge.FieldCondition(key=asked.key, match=self._edge.MatchValue(asked.match.value))


def _not_found(name: str) -> Exception:
    """As a server answers."""
    import httpx
    from qdrant_client.http.exceptions import UnexpectedResponse

    said = f'{{"status": {{"error": "Not found: Collection `{name}` doesn\'t exist!"}}}}'
    return UnexpectedResponse(404, "Not Found", said.encode(), httpx.Headers())
