"""Milvus Lite in a file of this machine keeps the contract of engines."""

import pytest

from lexigraft.engines.address import parse_address
from lexigraft.engines.opening import open_engine
from tests.engines import contract

pytest.importorskip("pymilvus")
pytest.importorskip("milvus_lite")
PROPERTIES = [*contract.PROPERTIES, contract.filters_are_those_of_memory]
pytestmark = pytest.mark.integration


@pytest.fixture
def make(tmp_path):
    engine = open_engine(parse_address(f"milvus:{tmp_path}/stored/papers"))
    yield lambda: engine
    engine.close()


@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda one: one.__name__)
def test_contract(holds, make):
    holds(make)


def test_what_was_loaded_is_there_when_it_is_opened_again(tmp_path):
    address = parse_address(f"milvus:{tmp_path}/stored/papers")
    first = open_engine(address)
    first.create(contract.description())
    first.load([contract.row("a", {1: 3}, "title", venue="é"), contract.row("b", {})])
    second = open_engine(address)  # of the same process: both are of one Milvus Lite
    assert second.count() == 2
    second.close()
    assert first.count() == 2
    first.close()
    again = open_engine(address)
    assert again.describe() == contract.description() and again.count() == 2 and contract.found(again) == {"a"}
    again.close()


def test_asking_makes_no_folder(tmp_path):
    engine = open_engine(parse_address(f"milvus:{tmp_path}/stored/papers"))
    assert engine.describe() is None
    engine.drop()
    assert not list(tmp_path.iterdir())
