"""The description of a collection of Milvus, in rows of another one beside it.

Milvus limits a text, and a JSON value as well, to 64 kB, and a query encoder may say more of itself: what does not
change in the course of a load is cut into parts that are named by its digest. A head names the digest and how many
rows are loaded. Parts are written before the head that names them, so that what is read is always whole. A head is
never written over, because Milvus Lite deletes a row before it writes another in its place, and may be killed between:
every head is a row of its own with the next number, and those before it are deleted afterwards.
"""

import hashlib
import json
from typing import Any

from lexigraft.engines.engine import Description
from lexigraft.engines.messages import client_package
from lexigraft.engines.milvus_expressions import one_of

SIDECAR = "__lexigraft"
HEAD = "head/"  # and a number: the highest counts
PART = 60_000  # characters, each of one byte


class DescriptionRows:
    """Of one collection; the client is given to every call."""

    def __init__(self, name: str, timeout: int) -> None:
        self.name, self._options = name + SIDECAR, {"timeout": timeout}
        self._written = ""  # the digest of the parts that are there for certain
        self._is_loaded = False

    def make(self, client: Any) -> None:
        """Make the collection, where it is not there."""
        if client.has_collection(self.name, **self._options):
            return
        kinds = client_package("pymilvus", "Milvus").DataType
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", kinds.VARCHAR, is_primary=True, max_length=100)
        schema.add_field("part", kinds.VARCHAR, max_length=65_535)
        schema.add_field("vector", kinds.FLOAT_VECTOR, dim=2)  # there must be one
        client.create_collection(
            self.name, schema=schema, index_params=self._index(client), consistency_level="Strong", **self._options
        )

    def write(self, client: Any, description: Description) -> None:
        stored = description.as_dict()
        n_loaded = stored.pop("n_loaded")
        text = json.dumps(stored)
        digest = hashlib.sha256(text.encode()).hexdigest()
        n_parts = -(-len(text) // PART)
        if digest != self._written:
            for place in range(n_parts):
                self._put(client, f"{digest}/{place}", text[place * PART : (place + 1) * PART])
        former = self._heads(client)
        number = max(map(_number, former), default=0) + 1
        self._put(client, f"{HEAD}{number}", json.dumps({"digest": digest, "n_parts": n_parts, "n_loaded": n_loaded}))
        if former:
            client.delete(self.name, filter=one_of(list(former)), **self._options)
        self._written = digest

    def read(self, client: Any) -> Any:
        """What was written; None where nothing was, or not all of it."""
        if not client.has_collection(self.name, **self._options):
            return None
        heads = self._heads(client)
        if not heads:
            return None
        told = json.loads(heads[max(heads, key=_number)])
        names = [f"{told['digest']}/{place}" for place in range(told["n_parts"])]
        parts = self._get(client, names)
        if len(parts) < len(names):
            return None
        return {**json.loads("".join(parts[name] for name in names)), "n_loaded": told["n_loaded"]}

    def drop(self, client: Any) -> None:
        client.drop_collection(self.name, **self._options)
        self.forget()

    def forget(self) -> None:
        """Of another connection nothing is known."""
        self._written, self._is_loaded = "", False

    def _put(self, client: Any, name: str, part: str) -> None:
        client.upsert(self.name, [{"id": name, "part": part, "vector": [0.0, 1.0]}], **self._options)

    def _heads(self, client: Any) -> dict[str, str]:
        """One, but for a moment, or where a writer was killed."""
        return self._find(client, f'id like "{HEAD}%"')

    def _get(self, client: Any, names: list[str]) -> dict[str, str]:
        return self._find(client, one_of(names))

    def _find(self, client: Any, expression: str) -> dict[str, str]:
        if not self._is_loaded:
            ready(client, self.name, "vector", self._index(client), self._options)
            self._is_loaded = True
        rows = client.query(
            self.name, expression, output_fields=["id", "part"], consistency_level="Strong", **self._options
        )
        return {row["id"]: row["part"] for row in rows}

    def _index(self, client: Any) -> Any:
        params = client.prepare_index_params()
        params.add_index("vector", index_type="FLAT", metric_type="L2")
        return params


def _number(head: str) -> int:
    return int(head.removeprefix(HEAD))


def ready(client: Any, name: str, field: str, index: Any, options: dict[str, Any]) -> None:
    """See that a collection has its index, which it lacks where it was being made when its maker was killed, and that
    it is loaded to be searched."""
    if not client.list_indexes(name, field_name=field):
        client.create_index(name, index, **options)
    client.load_collection(name, **options)
