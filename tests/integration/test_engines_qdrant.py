"""Qdrant in files of this machine, and its core as a server runs it, keep the contract of engines."""

import contextlib
import functools
import sqlite3

import pytest

from lexigraft.engines.address import parse_address
from lexigraft.engines.opening import open_engine
from tests.engines import contract
from tests.engines.qdrant_edge import edge_engine

pytest.importorskip("qdrant_client")
pytestmark = pytest.mark.integration


@pytest.fixture
def make(tmp_path):
    engine = open_engine(parse_address(f"qdrant:{tmp_path}/stored/papers"))
    yield lambda: engine
    engine.close()


FILTERS = functools.partial(contract.filters_are_those_of_memory, text_order=False)


@pytest.mark.parametrize("holds", [*contract.PROPERTIES, FILTERS], ids=lambda one: getattr(one, "__name__", "filters"))
def test_contract(holds, make):
    holds(make)


@pytest.fixture
def make_core(tmp_path):
    pytest.importorskip("qdrant_edge")
    engine = edge_engine(tmp_path)
    yield lambda: engine
    engine.close()


@pytest.mark.parametrize("holds", [*contract.PROPERTIES, FILTERS], ids=lambda one: getattr(one, "__name__", "filters"))
def test_contract_of_the_core(holds, make_core):
    holds(make_core)


def test_what_was_loaded_is_there_when_it_is_opened_again(tmp_path):
    address = parse_address(f"qdrant:{tmp_path}/stored/papers")
    first = open_engine(address)
    first.create(contract.description())
    first.load([contract.row("a", {1: 3}, "title", venue="é"), contract.row("b", {})])
    with pytest.raises(contract.EngineError, match="already accessed by another"):
        open_engine(address).count()
    first.close()
    again = open_engine(address)
    assert again.describe() == contract.description() and again.count() == 2 and contract.found(again) == {"a"}
    again.close()
    # Rows wait for the disk together, which SQLite does with this kind of log.
    (files,) = tmp_path.rglob("papers/storage.sqlite")
    with contextlib.closing(sqlite3.connect(files)) as stored:
        assert stored.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_asking_makes_no_folder(tmp_path):
    engine = open_engine(parse_address(f"qdrant:{tmp_path}/stored/papers"))
    assert engine.describe() is None
    engine.drop()
    assert not list(tmp_path.iterdir())
