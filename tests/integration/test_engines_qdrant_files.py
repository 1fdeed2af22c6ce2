"""Exported files of Qdrant: what its client and its core make of them."""

import gzip
import json

import pytest

from tests.engines.loaded_files import N_TITLES, export_debian, export_odd, loaded_program, needs_data, require_right
from tests.unit.export import odd

pytest.importorskip("qdrant_client")
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    odd.make(folder)
    return folder


def asked_of(client):
    """`search(body)` by the client of a server."""
    from qdrant_client import models

    def search(body):
        query, fields = models.SparseVector(**body["query"]), body["with_payload"]
        more = {"using": body["using"], "limit": body["limit"], "with_payload": fields}
        if "group_by" not in body:
            points = client.query_points("lexigraft", query=query, **more).points
            return [(point.payload["row_id"], point.score) for point in points if point.score > 0]
        found = client.query_points_groups(
            "lexigraft", query=query, group_by=body["group_by"], group_size=body["group_size"], **more
        )
        return [(group.id, group.hits[0].score) for group in found.groups if group.hits[0].score > 0]

    return search


@pytest.mark.parametrize("name", ["documents", "passages"])
def test_the_client_loads_and_asks(name, indexes, tmp_path):
    from qdrant_client import QdrantClient, models

    wanted = export_odd("qdrant", indexes / name, tmp_path)
    client = QdrantClient(":memory:")
    n_points = loaded_program(tmp_path).load(client)
    assert client.count("lexigraft").count == n_points
    assert require_right(tmp_path, wanted, asked_of(client)) == 3
    day = models.DatetimeRange(gte="2020-01-02", lt="2020-01-03")
    for key, holds in (
        ("meta.year", {"range": models.Range(gt=2000.4, lt=2000.6)}),
        ("meta.day", {"range": day}),
        ("meta.venue", {"match": models.MatchValue(value='a\t"1"\\')}),
        ("meta.tags", {"match": models.MatchValue(value="t.1")}),
    ):
        rows, _ = client.scroll("lexigraft", models.Filter(must=[models.FieldCondition(key=key, **holds)]))
        assert {row.payload["title"] for row in rows} == {'quoted "title"'}, key


def test_files_are_bodies_of_the_interface(indexes, tmp_path):
    """The client's models are made of the server's OpenAPI description, and take no field that it does not name."""
    from qdrant_client import models

    export_odd("qdrant", indexes / "passages", tmp_path)
    out = tmp_path / "out"
    assert models.CreateCollection(**json.loads((out / "collection.json").read_text())).sparse_vectors
    for line in (out / "payload_indexes.jsonl").read_text().splitlines():
        models.CreateFieldIndex(**json.loads(line))
    for part in out.glob("points-*.json.gz"):
        for point in models.PointsList(**json.loads(gzip.decompress(part.read_bytes()))).points:
            assert not point.vector or isinstance(point.vector["terms"], models.SparseVector)
    for line in (out / "queries.jsonl").read_text().splitlines():
        asked = models.QueryGroupsRequest(**json.loads(line)["body"])
        assert isinstance(asked.query, models.SparseVector)


@needs_data
def test_the_core_ranks_as_lexigraft_does(tmp_path):
    """500 queries over titles of a real collection, in what a server of Qdrant runs."""
    pytest.importorskip("qdrant_edge")
    from tests.engines.qdrant_edge import EdgeClient

    wanted = export_debian("qdrant", tmp_path)
    client = EdgeClient(tmp_path / "core")
    assert loaded_program(tmp_path).load(client) == N_TITLES
    client.optimize("lexigraft")

    def search(body):
        from qdrant_client import models

        points = client.query_points(
            "lexigraft", models.SparseVector(**body["query"]), body["using"], None, body["limit"], body["with_payload"]
        ).points
        return [(point.payload["row_id"], point.score) for point in points if point.score > 0]

    assert require_right(tmp_path, wanted, search) == 500
    client.close()
