"""Milvus: a server, or Milvus Lite in a file of this machine.

A row is an entity with its id (written as `milvus_expressions.written` has it) as the primary key, its title, its terms
as a sparse vector, and its metadata as JSON. A row without terms has one that no query has: not every version takes an
empty vector.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexigraft.engines.address import Address
from lexigraft.engines.conditions import as_test
from lexigraft.engines.engine import Description, EngineError, EngineHit, Row
from lexigraft.engines.messages import client_package, not_there, require_options, there_already, whole_option
from lexigraft.engines.milvus_connection import connect, disconnect, is_made, timeout_of, told
from lexigraft.engines.milvus_description import DescriptionRows, ready
from lexigraft.engines.milvus_expressions import as_expression, one_of, read, stored_meta, written
from lexigraft.engines.stored_values import name_of, stored_values
from lexigraft.search.conditions import Condition

LONGEST_TEXT = 65_535  # bytes of a text
MOST_HITS = 16_384  # that Milvus returns for a query
MOST_OF_LITE = 16_383  # rows that a query of Milvus Lite lists; it says nothing of the others
LOOKED_UP = 1000  # ids at a time
_writing_a_file = threading.Lock()  # of Milvus Lite, which one process at most has open: who looks and inserts is alone
NO_LOSS = {"drop_ratio_build": 0.0, "inverted_index_algo": "DAAT_MAXSCORE"}


class MilvusEngine:
    """Options of an address: `https` (yes or no), `timeout` (seconds), and `shards` for a new collection. A search
    returns 16,384 rows at most, however many are asked for."""

    def __init__(self, address: Address) -> None:
        require_options(address, "https", "timeout", "shards")
        self._address, self._name = address, address.name
        self._timeout = {"timeout": timeout_of(address)}
        self._shards = whole_option(address, "shards")
        self._beside = DescriptionRows(address.name, timeout_of(address))
        self._known: Description | None = None
        self._connected: Any = None
        self._is_ready = False
        self._opening = threading.RLock()

    def create(self, description: Description) -> None:
        with self._asking() as client:
            if client.has_collection(self._name, **self._timeout):
                raise there_already(self._address)
            self._beside.make(client)  # first: a collection that is there is then always described
            self._beside.write(client, description)
            kinds = client_package("pymilvus", "Milvus").DataType
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", kinds.VARCHAR, is_primary=True, max_length=LONGEST_TEXT)
            schema.add_field("title", kinds.VARCHAR, max_length=LONGEST_TEXT)
            schema.add_field("terms", kinds.SPARSE_FLOAT_VECTOR)
            schema.add_field("meta", kinds.JSON)
            shards = {} if self._shards is None else {"num_shards": self._shards}
            client.create_collection(
                self._name, schema=schema, index_params=self._index(client), consistency_level="Strong",
                **shards, **self._timeout,
            )  # fmt: skip
        self._known = description

    def describe(self) -> Description | None:
        if not is_made(self._address):
            return None
        with self._asking() as client:
            if not client.has_collection(self._name, **self._timeout):
                return None
            stored = self._beside.read(client)
        return Description.of(stored, str(self._address))

    def load(self, rows: Sequence[Row]) -> None:
        known = self._description()
        if not rows:
            return
        entities = [_entity(row, known) for row in rows]
        if self._address.is_local:
            self._load_into_file(entities)
            return
        with self._asking() as client:
            client.upsert(self._name, entities, **self._timeout)

    def note(self, description: Description) -> None:
        with self._asking() as client:
            self._beside.write(client, description)

    def search(
        self, term_ids: NDArray[np.int32], weights: NDArray[np.int32], k: int, where: Sequence[Condition] = ()
    ) -> list[EngineHit]:
        test = as_test(where, self._description().kinds)
        query = dict(zip(term_ids.tolist(), weights.astype(float).tolist(), strict=True))
        with self._asking(to_read=True) as client:
            expression = "" if test is None else as_expression(test, lambda holds: self._denied(client, holds))
            answer = client.search(
                self._name, [query], anns_field="terms", filter=expression, limit=min(k, MOST_HITS),
                output_fields=["title"], consistency_level="Strong",
                search_params={"metric_type": "IP", "params": {"drop_ratio_search": 0.0}}, **self._timeout,
            )  # fmt: skip
        return [
            EngineHit(read(hit["id"]), float(hit["distance"]), hit["entity"]["title"])
            for hit in answer[0]
            if hit["distance"] > 0
        ]

    def delete(self, row_ids: Sequence[str]) -> None:
        if row_ids:
            with self._asking(to_read=True) as client:
                client.delete(self._name, filter=one_of(row_ids), **self._timeout)

    def count(self) -> int:
        self._description()
        with self._asking(to_read=True) as client:
            found = client.query(
                self._name, "", output_fields=["count(*)"], consistency_level="Strong", **self._timeout
            )
        return int(found[0]["count(*)"])

    def drop(self) -> None:
        if not is_made(self._address):
            return
        with self._asking() as client:
            client.drop_collection(self._name, **self._timeout)  # first: what is there is described
            self._beside.drop(client)
        self._known, self._is_ready = None, False

    def close(self) -> None:
        with self._opening:
            if self._connected is not None:
                disconnect(self._connected, self._address)
            self._connected, self._is_ready = None, False
            self._beside.forget()

    @contextmanager
    def _asking(self, to_read: bool = False) -> Iterator[Any]:
        """The client; what goes wrong with it is said as an engine's error. `to_read`: the collection is loaded."""
        with told(self._address):
            with self._opening:
                if self._connected is None:
                    self._connected = connect(self._address)
                client = self._connected
                if to_read and not self._is_ready:
                    ready(client, self._name, "terms", self._index(client), self._timeout)
                    self._is_ready = True
            yield client

    def _load_into_file(self, entities: list[dict[str, Any]]) -> None:
        """To replace rows, Milvus Lite reads its whole file, which has no index of ids: of a million rows in batches
        of 500, that was 560 GB. So rows that are not there, which memory knows, are inserted, one batch at a time."""
        latest = {entity["id"]: entity for entity in entities}
        names = list(latest)
        with self._asking(to_read=True) as client, _writing_a_file:
            there: list[str] = []
            for start in range(0, len(names), LOOKED_UP):
                asked = one_of([read(name) for name in names[start : start + LOOKED_UP]])
                found = client.query(
                    self._name, asked, output_fields=["id"], consistency_level="Strong", **self._timeout
                )
                there += [row["id"] for row in found]
            replaced = [latest.pop(name) for name in there]
            if replaced:
                client.upsert(self._name, replaced, **self._timeout)
            if latest:
                client.insert(self._name, list(latest.values()), **self._timeout)

    def _description(self) -> Description:
        """What the collection was made for, asked for once."""
        if self._known is None:
            self._known = self.describe()
            if self._known is None:
                raise not_there(self._address)
        return self._known

    def _denied(self, client: Any, holds: str) -> str:
        """The denial of an expression. Milvus Lite has none: it is asked for the rows, and told to leave them out."""
        if not self._address.is_local:
            return f"not ({holds})"
        rows = client.query(self._name, holds, output_fields=["id"], consistency_level="Strong", **self._timeout)
        if len(rows) >= MOST_OF_LITE:
            raise EngineError(
                f"{self._address} cannot leave out what {MOST_OF_LITE:,} rows or more fulfil: Milvus Lite has no 'not' "
                "here and lists no more; ask for what is wanted instead, or load a server of Milvus"
            )
        return one_of([read(row["id"]) for row in rows]).replace("id in", "id not in", 1) if rows else 'id != ""'

    def _index(self, client: Any) -> Any:
        params = client.prepare_index_params()
        params.add_index("terms", index_type="SPARSE_INVERTED_INDEX", metric_type="IP", params=NO_LOSS)
        return params


def _entity(row: Row, known: Description) -> dict[str, Any]:
    name = written(row.row_id)
    if len(name.encode()) > LONGEST_TEXT:
        raise EngineError(f"the id {row.row_id[:40]!r}... is longer than the {LONGEST_TEXT:,} bytes that Milvus takes")
    title = row.title
    if len(title) > LONGEST_TEXT // 4:  # it may be too long, and is then cut
        title = title.encode()[:LONGEST_TEXT].decode(errors="ignore")
    terms = dict(zip(row.term_ids.tolist(), row.impacts.astype(float).tolist(), strict=True))
    meta = stored_meta(stored_values(row.metadata, known.kinds), _names(known.kinds))
    return {"id": name, "title": title, "terms": terms or {known.n_terms: 1.0}, "meta": meta}


def _names(kinds: Mapping[str, str]) -> list[str]:
    return [name_of(key) for key in kinds]
