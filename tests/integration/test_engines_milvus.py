"""Milvus Lite in a file of this machine keeps the contract of engines."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lexigraft.engines.address import parse_address
from lexigraft.engines.engine import EngineError
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


def test_only_rows_that_are_there_are_replaced(make, monkeypatch):
    """To replace, Milvus Lite reads its whole file."""
    engine = make()
    engine.create(contract.description())
    told = []
    for name in ("insert", "upsert"):
        do = getattr(type(engine._connected), name)
        monkeypatch.setattr(
            type(engine._connected), name,
            lambda self, where, rows, name=name, do=do, **more: (
                told.append((name, [one["id"] for one in rows])), do(self, where, rows, **more)
            )[1],
        )  # fmt: skip
    one, two, three = (contract.row(name, {1: 1}) for name in ("a\\'", 'b"', "c"))
    engine.load([one, two])
    engine.load([two, three, contract.row("c", {1: 9})])
    assert [name for name, _ in told] == ["insert", "upsert", "insert"]
    assert [len(ids) for _, ids in told] == [2, 1, 1] and engine.count() == 3
    hits = engine.search(np.array([1], np.int32), np.array([1], np.int32), 9)
    assert {hit.row_id: hit.score for hit in hits} == {"a\\'": 1.0, 'b"': 1.0, "c": 9.0}


def test_more_rows_than_milvus_lite_lists(make):
    """16,383 are listed, without a word of the others: no row is there twice, and none is left in by mistake."""
    engine = make()
    engine.create(contract.description())
    rows = [contract.row(f"r{number}", {1: 1}, tags=("old" if number else "new",)) for number in range(16_500)]
    for _ in range(2):
        engine.load(rows)
        assert engine.count() == len(rows)
    assert contract.found(engine, [contract.parse_condition("tags has new")]) == {"r0"}
    assert len(contract.found(engine, [contract.parse_condition("not tags has new")], k=16_384)) == 16_384
    with pytest.raises(EngineError, match="cannot leave out what 16,383 rows or more fulfil"):
        contract.found(engine, [contract.parse_condition("not tags has old")])


def test_two_loads_of_the_same_rows_at_once(tmp_path):
    """By two engines of a process, which look and write in turn."""
    engines = [open_engine(parse_address(f"milvus:{tmp_path}/stored/papers")) for _ in range(2)]
    engines[0].create(contract.description())
    rows = [contract.row(f"r{number}", {1: 1 + number % 9}) for number in range(2000)]
    with ThreadPoolExecutor(4) as pool:
        starts = [start for start in range(0, 2000, 100) for _ in range(2)]
        for done in [pool.submit(engine.load, rows[start : start + 100]) for start in starts for engine in engines]:
            done.result()
    assert engines[0].count() == 2000 and len(contract.found(engines[1], k=9000)) == 2000
    for engine in engines:
        engine.close()


def test_asking_makes_no_folder(tmp_path):
    engine = open_engine(parse_address(f"milvus:{tmp_path}/stored/papers"))
    assert engine.describe() is None
    engine.drop()
    assert not list(tmp_path.iterdir())
