"""Qdrant: a collection with one sparse vector, points in files that its REST interface takes, and query bodies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexigraft.core.progress import Progress
from lexigraft.engines.qdrant import TERMS, point_number
from lexigraft.engines.qdrant_filters import path_of
from lexigraft.export.engine_files.bulk import Form, Parts, as_json, write_json_file, write_lines, write_vocabulary
from lexigraft.export.engine_files.limits import precision_of, require_dimensions, require_name, require_request
from lexigraft.export.engine_files.loaders import QDRANT, loader
from lexigraft.export.engine_files.query_bodies import HITS, Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRow, StoredRows, odd_names, values_in_iso
from lexigraft.export.engine_files.templates import filled
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted
from lexigraft.index.metadata import DATE, NUMBER

ENGINE = "Qdrant"
POINTS = Form("points", ".json", b'{"points":[\n', b",\n", b"\n]}\n")
MOST_TERMS = 1 << 32  # numbers of terms have 32 bits
LARGEST_REQUEST = 32 << 20  # bytes, unless the server says otherwise (service.max_request_size_mb)
SCHEMAS = {NUMBER: "float", DATE: "datetime"}


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """The collection's description, its points, a program that loads them, and query bodies."""
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    require_dimensions(ENGINE, source.index.n_terms, MOST_TERMS)
    rows = StoredRows(source, "writing points", progress)
    write_json_file(folder / "collection.json", {"sparse_vectors": {TERMS: {"index": {"on_disk": False}}}})
    write_lines(folder / "payload_indexes.jsonl", _payload_indexes(rows))
    write_vocabulary(folder, source.terms)
    parts = _write_points(rows, folder)
    (folder / "load.py").write_text(loader(QDRANT, wanted.name), encoding="utf-8")
    asked = write_queries(wanted, source, folder, lambda one: _body(one, rows.of_passages))
    exact, inexact = precision_of(source.index)
    return Exported(
        f"A collection for Qdrant ({parts.n_parts} files of points)",
        [*rows.kept(), *exact],
        [*inexact, "the order of documents with equal scores", *odd_names(rows.kinds), *lost_queries(asked)],
        _use(wanted.name, rows.of_passages),
        {"index": source.index.fingerprint},
        {**rows.facts(), "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


def _payload_indexes(rows: StoredRows) -> list[dict[str, str]]:
    """What is filtered and grouped by."""
    found = {path_of(key): SCHEMAS.get(kind, "keyword") for key, kind in rows.kinds.items()}
    if rows.of_passages:
        found["document"] = "keyword"
    return [{"field_name": name, "field_schema": schema} for name, schema in found.items()]


def _write_points(rows: StoredRows, folder: Path) -> Parts:
    kinds = rows.kinds
    with Parts(folder, POINTS) as parts:
        for row in rows:
            point = as_json(_point(row, kinds))
            require_request(ENGINE, row.row_id, POINTS.alone(point), LARGEST_REQUEST)
            parts.append(point)
    return parts


def _point(row: StoredRow, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Its number is made of the row's id, so what is loaded twice is there once. A row without terms has no vector."""
    sparse = {TERMS: {"indices": row.term_ids.tolist(), "values": row.impacts.tolist()}} if len(row.term_ids) else {}
    payload = {"row_id": row.row_id, **row.shown, "meta": values_in_iso(row, kinds)}
    return {"id": point_number(row.row_id), "vector": sparse, "payload": payload}


def _body(weights: Weights, of_passages: bool) -> dict[str, Any]:
    query = {"indices": list(weights), "values": list(weights.values())}
    body: dict[str, Any] = {"query": query, "using": TERMS, "limit": HITS, "with_payload": ["row_id", "title"]}
    return {**body, "group_by": "document", "group_size": 1} if of_passages else body


def _use(name: str, of_passages: bool) -> str:
    return filled(USE, {"NAME": name, "ENDPOINT": "query/groups" if of_passages else "query"})


USE = """\
Load everything with qdrant-client (`pip install qdrant-client`):

```sh
python load.py http://localhost:6333
```

or with curl alone:

```sh
curl -X PUT http://localhost:6333/collections/NAME -H 'Content-Type: application/json' --data-binary @collection.json
while read -r index; do
  curl -X PUT http://localhost:6333/collections/NAME/index -H 'Content-Type: application/json' --data-binary "$index"
done < payload_indexes.jsonl
for part in points-*.json.gz; do
  gunzip -c "$part" |
    curl --fail-with-body -X PUT 'http://localhost:6333/collections/NAME/points?wait=true' \\
      -H 'Content-Type: application/json' --data-binary @-
done
```

Ask the first query of `queries.jsonl`, which `--queries` writes:

```sh
head -n 1 queries.jsonl | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["body"]))' |
  curl -X POST http://localhost:6333/collections/NAME/points/ENDPOINT \\
    -H 'Content-Type: application/json' --data-binary @-
```

With qdrant-client, for a query of your own:

```python
vector = models.SparseVector(indices=[17, 99], values=[3.0, 1.0])  # numbers of terms: lines of vocabulary.jsonl, from 0
client.query_points("NAME", query=vector, using="terms", limit=10).points
```

The payload of a point has `row_id`, `title` and `meta`, by which it can be filtered (`meta.KEY`). The modifier `idf` \
stays off: weights are as the model gave them.
"""
