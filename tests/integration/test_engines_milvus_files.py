"""Exported files of Milvus: loaded by the exported program into Milvus Lite, whose core is the cluster's."""

import json
import subprocess
import sys

import pytest

from tests.engines.loaded_files import N_TITLES, export_debian, export_odd, loaded_program, needs_data, require_right
from tests.unit.export import odd

pytest.importorskip("pymilvus")
pytest.importorskip("milvus_lite")
pytestmark = pytest.mark.integration


def asked_of(client):
    """`search(body)`; the body of the REST interface, as the client takes it."""

    def search(body):
        (query,) = body["data"]
        terms = {int(term): float(weight) for term, weight in query.items()}
        params = {"metric_type": body["searchParams"]["metricType"], "params": body["searchParams"]["params"]}
        more = {"group_by_field": body["groupingField"]} if "groupingField" in body else {}
        (hits,) = client.search(
            body["collectionName"], [terms], anns_field=body["annsField"], limit=body["limit"], search_params=params,
            output_fields=body["outputFields"], consistency_level="Strong", **more,
        )  # fmt: skip
        found = [(hit["entity"].get("document", hit["id"]) if more else hit["id"], hit["distance"]) for hit in hits]
        return [(name, score) for name, score in found if score > 0]

    return search


@pytest.mark.parametrize("name", ["documents", "passages"])
def test_the_program_loads_and_queries_are_right(name, tmp_path):
    from pymilvus import MilvusClient

    odd.make(tmp_path / "odd")
    wanted = export_odd("milvus", tmp_path / "odd" / name, tmp_path)
    file = tmp_path / "milvus.db"
    done = subprocess.run(
        [sys.executable, "load.py", str(file)], cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "rows are loaded" in done.stdout, done.stderr
    again = subprocess.run(
        [sys.executable, "load.py", str(file)], cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert again.returncode != 0 and again.stdout == "", again.stdout
    assert again.stderr.splitlines()[-1] == "lexigraft is there already; drop it first"
    client = MilvusClient(str(file))
    client.load_collection("lexigraft")
    (counted,) = client.query("lexigraft", "", output_fields=["count(*)"])
    assert counted["count(*)"] == json.loads((tmp_path / "out" / "export.json").read_text())["facts"]["rows"]
    assert require_right(tmp_path, wanted, asked_of(client)) == 3
    for holds in ('meta["year"] == 2000.5', 'json_contains(meta["tags"], "t.1")', 'meta["day"] == 1577923200000000'):
        rows = client.query("lexigraft", holds, output_fields=["title"])
        assert {row["title"] for row in rows} == {'quoted "title"'}, holds
    client.close()


@needs_data
def test_the_core_ranks_as_lexigraft_does(tmp_path):
    """500 queries over titles of a real collection."""
    from pymilvus import MilvusClient

    wanted = export_debian("milvus", tmp_path)
    client = MilvusClient(str(tmp_path / "milvus.db"))
    assert loaded_program(tmp_path).load(client) == N_TITLES
    assert require_right(tmp_path, wanted, asked_of(client)) == 500
    client.close()
