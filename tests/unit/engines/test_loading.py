"""A load that fails, stops and is repeated: nothing missing, nothing twice."""

from threading import local

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.engines import backoff
from lexigraft.engines.engine import Description, EngineError, UnreachableError
from lexigraft.engines.loading import load_index
from lexigraft.engines.searching import search_engine
from lexigraft.search.searcher import Searcher
from tests.conftest import index_of, sparse_matrix
from tests.engines.memory import MemoryEngine

N_ROWS, N_TERMS = 130, 40


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = [{int(t): float(w) for t, w in zip(rng.choice(N_TERMS, 5, False), rng.random(5) + 0.1, strict=True)}
            for _ in range(N_ROWS)]  # fmt: skip
    return index_of(sparse_matrix(rows, N_TERMS), tmp_path_factory.mktemp("index") / "i")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(backoff, "FIRST_WAIT", 0.0)


def load(index, engine, **named):
    return load_index(index, engine, "/there", "a collection", batch_rows=7, **named)


def test_every_row_is_there_and_ranks_as_it_does_here(index):
    engine, seen = MemoryEngine(), []
    assert load(index, engine, on_progress=lambda done, total: seen.append((done, total))) == (N_ROWS, 0)
    assert engine.count() == N_ROWS and engine.describe().is_complete and seen[-1] == (N_ROWS, N_ROWS)
    searcher = Searcher(index)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        query = np.sort(rng.choice(N_TERMS, 4, False)).astype(np.int32), rng.random(4).astype(np.float32)
        right = searcher.search(*query, 10)
        found = search_engine(engine, engine.describe(), query, 10)
        assert [hit.row_id for hit in found] == list(right.doc_ids)
        assert [hit.score for hit in found] == pytest.approx(right.scores)


def test_an_engine_that_is_away_for_a_while(index):
    engine, calls = MemoryEngine(), local()

    def fail():  # counted for each thread: of a common count, one thread may always get what fails
        calls.made = getattr(calls, "made", -1) + 1
        if calls.made % 3:
            raise UnreachableError("no answer")

    engine.fail = fail
    load(index, engine)
    assert engine.count() == N_ROWS and engine.describe().is_complete


@pytest.mark.parametrize("error", [EngineError("the disk is full"), KeyboardInterrupt()])
def test_a_load_that_was_stopped_goes_on(index, error, monkeypatch):
    monkeypatch.setattr("lexigraft.engines.loading.NOTED_EVERY", 2)
    engine, calls = MemoryEngine(), iter(range(10**6))

    def fail():
        if next(calls) == 12:
            raise error

    engine.fail = fail
    with pytest.raises(type(error)):
        load(index, engine)
    before = engine.describe().n_loaded
    assert 0 < before < N_ROWS and before <= engine.count()
    assert load(index, engine) == (N_ROWS, before)
    assert engine.count() == N_ROWS and load(index, engine) == (N_ROWS, N_ROWS)


def test_a_collection_of_another_index_is_not_touched(index):
    engine = MemoryEngine()
    engine.create(Description("another", "/elsewhere", "f", 3, 2, 1.0, 8, False, {}))
    with pytest.raises(ArtifactError, match="loaded from another index"):
        load(index, engine)
    assert not engine.rows


def test_what_no_engine_described_is_named():
    for stored in (None, [], {"version": 2}, {"version": 1, "colour": "red"}, {"version": 1}):
        with pytest.raises(ArtifactError, match="load it again"):
            Description.of(stored, "a collection")
    description = Description("s", "/i", "f", 3, 2, 1.0, 8, False, {"kind": "bm25"}, {"year": "number"}, 1)
    assert Description.of(description.as_dict(), "it") == description and not description.is_complete
