"""Every row that an engine holds, read past the product's adapter: what is compared after a load."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lexigraft.engines.engine import Row
from lexigraft.engines.milvus import MOST_HITS
from lexigraft.engines.milvus_expressions import read

Stored = tuple[str, str, str]  # id, title, and as JSON the weights by term and the metadata


def expected_rows(rows: Sequence[Row]) -> Counter[Stored]:
    """Rows of a local index, whose metadata are numbers."""
    return Counter(
        _stored(
            row.row_id, row.title, dict(zip(row.term_ids.tolist(), row.impacts.tolist(), strict=True)), row.metadata
        )
        for row in rows
    )


def _stored(row_id: str, title: str, terms: Mapping[int, float], meta: Mapping[str, Any]) -> Stored:
    weights = sorted((int(term), float(weight)) for term, weight in terms.items())
    return row_id, title, json.dumps([weights, sorted((key, float(value)) for key, value in meta.items())])


def rows_in(scheme: str, engine: Any) -> Counter[Stored]:
    """What an open engine holds. A row that is there twice counts twice."""
    return {"postgresql": _postgres, "milvus": _milvus, "qdrant": _qdrant, "qdrant-edge": _edge}[scheme](engine)


def _postgres(engine: Any) -> Counter[Stored]:
    with engine._connections.transaction() as connection:
        found = connection.execute(f'SELECT row_id, title, terms::text, meta FROM "{engine._address.name}"').fetchall()
    return Counter(_stored(name, title, _of_pgvector(text), meta) for name, title, text, meta in found)


def _of_pgvector(text: str) -> dict[int, float]:
    """The text counts terms from 1."""
    pairs = (pair.split(":") for pair in text[1 : text.index("}")].split(",") if pair)
    return {int(term) - 1: float(weight) for term, weight in pairs}


def _milvus(engine: Any) -> Counter[Stored]:
    """Milvus does not give vectors back where an index has taken them in. A query of one term with a weight of 1 has a
    row's weight as its score, so that every term is asked for."""
    weights: dict[str, dict[int, float]] = defaultdict(dict)
    with engine._asking(to_read=True) as client:
        fields = ["id", "title", "meta"]
        found = client.query(
            engine._name, 'id != ""', output_fields=fields, consistency_level="Strong", limit=MOST_HITS
        )
        for term in range(engine._description().n_terms):
            for hit in client.search(
                engine._name, [{term: 1.0}], anns_field="terms", limit=MOST_HITS, consistency_level="Strong",
                search_params={"metric_type": "IP", "params": {"drop_ratio_search": 0.0}},
            )[0]:  # fmt: skip
                if hit["distance"] > 0:
                    weights[hit["id"]][term] = hit["distance"]
    return Counter(_stored(read(one["id"]), one["title"], weights[one["id"]], _numbers(one["meta"])) for one in found)


def _numbers(meta: Mapping[str, Any]) -> dict[str, float]:
    """Without the names of keys that a row has not."""
    return {key: value for key, value in meta.items() if not isinstance(value, list)}


def _qdrant(engine: Any) -> Counter[Stored]:
    with engine._asking() as client:
        points, _ = client.scroll(engine._name, limit=1_000_000, with_payload=True, with_vectors=True)
    found = []
    for point in points:
        vector = (point.vector or {}).get("terms")
        terms = {} if vector is None else dict(zip(vector.indices, vector.values, strict=True))
        found.append(_stored(point.payload["row_id"], point.payload["title"], terms, point.payload["meta"]))
    return Counter(found)


def _edge(engine: Any) -> Counter[Stored]:
    points = engine._connected.all_points(engine._name)
    return Counter(_stored(name, payload["title"], terms, payload["meta"]) for name, (payload, terms) in points.items())
