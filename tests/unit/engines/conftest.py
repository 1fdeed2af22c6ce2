"""An engine in memory behind every address, and a run to load into it."""

import pytest

from lexigraft.engines import backoff, opening
from tests.engines.memory import MemoryEngine
from tests.unit.serve.conftest import write_run

ADDRESS = "qdrant://a-secret@localhost:6333/papers"


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("loaded"))


@pytest.fixture
def engines(monkeypatch):
    """By the name of the collection; made when they are first opened."""
    found = {}

    def open_engine(address):
        return found.setdefault(address.name, MemoryEngine())

    monkeypatch.setattr(opening, "open_engine", open_engine)
    monkeypatch.setattr(backoff, "FIRST_WAIT", 0.0)
    return found
