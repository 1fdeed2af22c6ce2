"""Qdrant: a server by its REST interface, or files of this machine, which qdrant-client reads into memory itself.

A row is a point whose number is made from its id, so that what is written twice is there once. Its terms are a sparse
vector, which a row without terms does not have; its payload is the id, the title and the metadata. The description is
the one point of a collection beside it.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from lexigraft.engines.address import Address
from lexigraft.engines.conditions import as_test
from lexigraft.engines.engine import Description, EngineHit, Row
from lexigraft.engines.messages import (
    client_package,
    not_there,
    require_options,
    there_already,
    whole_option,
    yes_or_no,
)
from lexigraft.engines.qdrant_connection import as_one_write, connect, is_made, told
from lexigraft.engines.qdrant_filters import as_filter, path_of
from lexigraft.engines.stored_values import stored_values
from lexigraft.index.metadata import DATE, NUMBER
from lexigraft.search.conditions import Condition

TERMS = "terms"
SIDECAR = "__lexigraft"
_NAMESPACE = UUID("6f1f3c1e-6a52-5d0c-9f0e-3f6c1f1b7a55")  # any one will do, as long as it stays the same
_ONLY = 1  # the number of the description's point


class QdrantEngine:
    """Options of an address: `https` (yes or no; usually yes where there is a key), `timeout` (seconds), and for a new
    collection `shards`, `replicas` and `on_disk` (yes or no)."""

    def __init__(self, address: Address) -> None:
        require_options(address, "https", "timeout", "shards", "replicas", "on_disk")
        self._address, self._name, self._beside = address, address.name, address.name + SIDECAR
        self._shape = {
            "shard_number": whole_option(address, "shards"),
            "replication_factor": whole_option(address, "replicas"),
        }
        self._on_disk = yes_or_no(address, "on_disk")
        self._kinds: Mapping[str, str] | None = None
        self._connected: Any = None
        self._are_indexed = False
        self._opening = threading.Lock()
        # Files are read and written by one thread at a time: qdrant-client has no locks of its own for them.
        self._turn: Any = threading.RLock() if address.is_local else nullcontext()

    def create(self, description: Description) -> None:
        with self._asking() as client:
            if client.collection_exists(self._name):
                raise there_already(self._address)
            models = client_package("qdrant_client.models", "Qdrant")
            # The description first: a collection that is there is then always described.
            if not client.collection_exists(self._beside):
                client.create_collection(self._beside, vectors_config={})
            self._write(client, description)
            index = models.SparseIndexParams(on_disk=self._on_disk)
            vectors = {TERMS: models.SparseVectorParams(index=index)}
            client.create_collection(self._name, vectors_config={}, sparse_vectors_config=vectors, **self._shape)
        self._kinds = description.kinds

    def describe(self) -> Description | None:
        if not is_made(self._address):
            return None
        with self._asking() as client:
            if not client.collection_exists(self._name):
                return None
            stored = None
            if client.collection_exists(self._beside):
                points = client.retrieve(self._beside, [_ONLY], with_payload=True)
                stored = json.loads(points[0].payload["description"]) if points else None
        return Description.of(stored, str(self._address))

    def load(self, rows: Sequence[Row]) -> None:
        kinds = self._known_kinds()
        if not rows:
            return
        models = client_package("qdrant_client.models", "Qdrant")
        points = [_point(models, row, kinds) for row in rows]
        with self._asking() as client:
            if not self._are_indexed:
                self._index(client, kinds)
            with as_one_write(client, self._name):
                client.upsert(self._name, points, wait=True)

    def note(self, description: Description) -> None:
        with self._asking() as client:
            self._write(client, description)

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        test = as_test(where, self._known_kinds())
        models = client_package("qdrant_client.models", "Qdrant")
        query = models.SparseVector(indices=term_ids.tolist(), values=weights.astype(float).tolist())
        asked = None if test is None else as_filter(test)
        with self._asking() as client:
            answer = client.query_points(
                self._name, query=query, using=TERMS, query_filter=asked, limit=k, with_payload=["row_id", "title"]
            )
        return [
            EngineHit(point.payload["row_id"], float(point.score), point.payload["title"])
            for point in answer.points
            if point.score > 0
        ]

    def delete(self, row_ids: Sequence[str]) -> None:
        if not row_ids:
            return
        models = client_package("qdrant_client.models", "Qdrant")
        with self._asking() as client:
            chosen = models.PointIdsList(points=[point_number(row_id) for row_id in row_ids])
            client.delete(self._name, chosen, wait=True)

    def count(self) -> int:
        with self._asking() as client:
            return int(client.count(self._name, exact=True).count)

    def drop(self) -> None:
        if not is_made(self._address):
            return
        with self._asking() as client:
            for name in (self._name, self._beside):  # in this order: what is there is described
                if client.collection_exists(name):
                    client.delete_collection(name)
        self._kinds, self._are_indexed = None, False

    def close(self) -> None:
        with self._opening:
            if self._connected is not None:
                self._connected.close()
                self._connected = None

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """The client; what goes wrong with it is said as an engine's error."""
        with self._turn, told(self._address):
            with self._opening:
                if self._connected is None:
                    self._connected = connect(self._address)
            yield self._connected

    def _known_kinds(self) -> Mapping[str, str]:
        """The kinds of metadata, asked for once."""
        if self._kinds is None:
            description = self.describe()
            if description is None:
                raise not_there(self._address)
            self._kinds = description.kinds
        return self._kinds

    def _write(self, client: Any, description: Description) -> None:
        models = client_package("qdrant_client.models", "Qdrant")
        payload = {"description": json.dumps(description.as_dict())}
        client.upsert(self._beside, [models.PointStruct(id=_ONLY, vector={}, payload=payload)], wait=True)

    def _index(self, client: Any, kinds: Mapping[str, str]) -> None:
        """Have a server index what conditions ask for. It passes over what is indexed already, so that a load which was
        stopped before this does it when it is repeated."""
        if not self._address.is_local:
            models = client_package("qdrant_client.models", "Qdrant")
            known = {NUMBER: models.PayloadSchemaType.FLOAT, DATE: models.PayloadSchemaType.INTEGER}
            for key, kind in kinds.items():
                schema = known.get(kind, models.PayloadSchemaType.KEYWORD)
                client.create_payload_index(self._name, path_of(key), schema, wait=True)
        self._are_indexed = True


def point_number(row_id: str) -> str:
    """The number of a row's point."""
    return str(uuid5(_NAMESPACE, row_id))


def _point(models: Any, row: Row, kinds: Mapping[str, str]) -> Any:
    vector = {}
    if len(row.term_ids):
        values = row.impacts.astype(float).tolist()
        vector = {TERMS: models.SparseVector(indices=row.term_ids.tolist(), values=values)}
    payload = {"row_id": row.row_id, "title": row.title, "meta": stored_values(row.metadata, kinds)}
    return models.PointStruct(id=point_number(row.row_id), vector=vector, payload=payload)
