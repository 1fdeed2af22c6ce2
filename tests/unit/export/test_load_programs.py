"""The programs that load an engine by its own client, with a client that writes down what it is told."""

import json
import subprocess
import sys

import pytest

from lexigraft.export.targets import Wanted, export
from tests.unit.export import odd

PYMILVUS = '''
import json
from enum import Enum
from pathlib import Path

DataType = Enum("DataType", ["VARCHAR", "SPARSE_FLOAT_VECTOR", "JSON"])


class Described:
    def add_field(self, *given, **more): ...
    add_index = add_field


class MilvusClient:
    """As the real one, it takes a second creation of the same collection, and rows whose ids are there."""

    def __init__(self, place, token=""):
        self._file = Path(place)
        self._rows = json.loads(self._file.read_text()) if self._file.exists() else {}

    def has_collection(self, name):
        return name in self._rows

    def create_schema(self, **_):
        return Described()

    def prepare_index_params(self):
        return Described()

    def create_collection(self, name, **_):
        self._rows.setdefault(name, [])

    def insert(self, name, rows):
        self._rows[name] += [row["id"] for row in rows]

    def load_collection(self, name): ...

    def close(self):
        self._file.write_text(json.dumps(self._rows))
'''


@pytest.fixture
def load(tmp_path):
    """`load()` runs the exported program of Milvus once."""
    index = odd.index_of_rows(tmp_path / "i", [{0: 1}, {1: 2}])
    folder, clients = tmp_path / "out", tmp_path / "clients"
    export("milvus", Wanted(index, name="papers"), folder)
    clients.mkdir()
    (clients / "pymilvus.py").write_text(PYMILVUS)

    def run():
        return subprocess.run(
            [sys.executable, "load.py", tmp_path / "there.json"], cwd=folder, env={"PYTHONPATH": str(clients)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def test_rows_of_milvus_are_loaded_once(load, tmp_path):
    """Milvus itself would take the same collection and the same ids again."""
    assert load().stdout == "2 rows are loaded\n"
    again = load()
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == "papers is there already; drop it first\n"
    assert json.loads((tmp_path / "there.json").read_text()) == {"papers": ["d0", "d1"]}
