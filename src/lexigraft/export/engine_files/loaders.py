"""Programs that stand beside bulk files and load them with an engine's own client, without Lexigraft."""

QDRANT = '''\
"""Makes the collection NAME in Qdrant and loads its points; needs qdrant-client, and nothing of Lexigraft.

    python load.py http://localhost:6333 [KEY]      a server
    python load.py ./folder                         files of this machine, read by the client itself
"""

import gzip
import json
import sys
from pathlib import Path

from qdrant_client import QdrantClient, models

HERE, NAME, AT_ONCE = Path(__file__).parent, "NAME", 500


def load(client, here=HERE):
    """Return how many points were sent."""
    schema = models.CreateCollection(**json.loads((here / "collection.json").read_text()))
    client.create_collection(NAME, vectors_config={}, sparse_vectors_config=schema.sparse_vectors)
    for line in (here / "payload_indexes.jsonl").read_text().splitlines():
        index = models.CreateFieldIndex(**json.loads(line))
        client.create_payload_index(NAME, index.field_name, index.field_schema, wait=True)
    n_points = 0
    for part in sorted(here.glob("points-*.json.gz")):
        with gzip.open(part) as file:
            points = models.PointsList(**json.load(file)).points
        for start in range(0, len(points), AT_ONCE):
            client.upsert(NAME, points[start : start + AT_ONCE], wait=True)
        n_points += len(points)
    return n_points


if __name__ == "__main__":
    place, key = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    client = QdrantClient(place, api_key=key) if "://" in place else QdrantClient(path=place)
    print(load(client), "points are loaded")
    client.close()
'''

MILVUS = '''\
"""Makes the collection NAME in Milvus and loads its rows; needs pymilvus, and nothing of Lexigraft.

    python load.py http://localhost:19530 [USER:PASSWORD]     a server
    python load.py ./milvus.db                                Milvus Lite in a file of this machine
"""

import gzip
import json
import sys
from pathlib import Path

from pymilvus import DataType, MilvusClient

HERE, NAME, AT_ONCE = Path(__file__).parent, "NAME", 500
TYPES = {"VarChar": DataType.VARCHAR, "SparseFloatVector": DataType.SPARSE_FLOAT_VECTOR, "JSON": DataType.JSON}


def make(client, here=HERE):
    """The collection, as collection.json describes it. One that is there already would take all rows once more: Milvus
    takes the same schema a second time, and does not compare ids."""
    if client.has_collection(NAME):
        sys.exit(f"{NAME} is there already; drop it first")
    described = json.loads((here / "collection.json").read_text())
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    for field in described["schema"]["fields"]:
        options = {"is_primary": field.get("isPrimary", False), **field.get("elementTypeParams", {})}
        schema.add_field(field["fieldName"], TYPES[field["dataType"]], **options)
    indexes = client.prepare_index_params()
    for index in described["indexParams"]:
        indexes.add_index(
            index["fieldName"], index_type=index["indexType"], metric_type=index["metricType"], params=index["params"]
        )
    client.create_collection(NAME, schema=schema, index_params=indexes, consistency_level="Strong")


def load(client, here=HERE):
    """Return how many rows were sent."""
    make(client, here)
    n_rows = 0
    for part in sorted(here.glob("rows-*.json.gz")):
        with gzip.open(part) as file:
            rows = json.load(file)
        for row in rows:
            row["terms"] = {int(term): float(weight) for term, weight in row["terms"].items()}
        for start in range(0, len(rows), AT_ONCE):
            client.insert(NAME, rows[start : start + AT_ONCE])
        n_rows += len(rows)
    client.load_collection(NAME)
    return n_rows


if __name__ == "__main__":
    client = MilvusClient(sys.argv[1], token=sys.argv[2] if len(sys.argv) > 2 else "")
    print(load(client), "rows are loaded")
    client.close()
'''


def loader(program: str, name: str) -> str:
    """The program for a collection of this name."""
    return program.replace("NAME in", f"{name} in").replace('"NAME"', f'"{name}"')
