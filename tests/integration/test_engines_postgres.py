"""PostgreSQL with pgvector, as it is: what every engine must do, and what goes wrong with a server."""

import itertools
import logging
import shutil
import subprocess
import threading
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.core.errors import SettingError
from lexigraft.engines import backoff
from lexigraft.engines.address import SECRET, Address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.loading import load_index
from lexigraft.engines.postgres import PostgresEngine
from lexigraft.index.store import open_index
from lexigraft.retrieve.retriever import Retriever
from tests.engines import contract
from tests.engines.contract import description, found, row
from tests.engines.grafted_index import DATA, grafted_cranfield
from tests.engines.postgres_server import PASSWORD, USER, LocalServer

pytestmark = pytest.mark.integration
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def server():
    local = LocalServer()
    try:
        local.start()
        yield local
    finally:
        local.remove()


@pytest.fixture
def address(server):
    return Address("postgresql", f"Papers_{next(NUMBERS)}", "127.0.0.1", server.port, "postgres", USER, PASSWORD)


@pytest.fixture
def engine(address):
    made = PostgresEngine(address)
    yield made
    made.close()


@pytest.mark.parametrize("holds", contract.PROPERTIES, ids=lambda one: one.__name__)
def test_it_does_what_every_engine_must(holds, engine):
    holds(lambda: engine)


def test_filters(engine):
    contract.filters_are_those_of_memory(lambda: engine)


@pytest.mark.skipif(not DATA, reason="no data")
def test_a_grafted_index_ranks_the_same(engine, tmp_path):
    """Queries of words and impacts of 16 bits: the same scores, and the same documents but for ties of the last."""
    index, texts = grafted_cranfield(tmp_path / "index", 16)
    load_index(open_index(index), engine, str(index), "it")
    stored, ours, compared = engine.describe(), Retriever.open(index), 0
    for text in texts.values():
        right, query = ours.search(text, k=11), ours._held.state().encode(text)
        hits = engine.search(query[0], query[1].astype(np.int32), 10)
        assert [round(hit.score) for hit in hits] == [round(hit.score / stored.scale) for hit in right[:10]]
        if len({hit.score for hit in right}) == len(right):
            assert [hit.row_id for hit in hits] == [hit.doc_id for hit in right[:10]]
            compared += 1
    assert compared > 200


def test_characters_that_postgresql_cannot_hold(engine):
    """U+0000 takes away no row, and its order stays."""
    engine.create(description())
    texts = ["\0", "\1", "\0\1", "\1\0", "\1\1", "\1\2", "\0\2", "\2", "a\0b", "a", ""]
    engine.load([row(f"id{text}", {1: 1}, f"<{text}>", venue=text, tags=(text,)) for text in texts])
    assert engine.count() == len(texts) and found(engine) == {f"id{text}" for text in texts}
    titles = {hit.row_id: hit.title for hit in engine.search(np.array([1], np.int32), np.array([1], np.int32), 99)}
    assert titles["id\0\1"] == "<\ufffd\1>"
    for text in texts:
        for sign, is_so in (("=", str.__eq__), ("<", str.__lt__), (">=", str.__ge__)):
            where = contract.Condition("", contract.Compare("venue", sign, contract.Literal(text, True, 0), 0))
            assert found(engine, [where]) == {f"id{one}" for one in texts if is_so(one, text)}, (text, sign)
        where = contract.Condition("", contract.Has("tags", contract.Literal(text, True, 0), 0))
        assert found(engine, [where]) == {f"id{text}"}
    engine.delete([f"id{text}" for text in texts[:5]])
    assert engine.count() == len(texts) - 5


def test_more_terms_than_a_row_of_pgvector_holds(engine):
    engine.create(description(n_terms=20_000))
    engine.load([row("most", dict.fromkeys(range(16_000), 255))])
    with pytest.raises(EngineError, match=r"16,001 terms.*dk") as error:
        engine.load([row("small", {1: 1}), row("large", dict.fromkeys(range(16_001), 1))])
    assert "\n" not in str(error.value) and found(engine, terms=range(16_000)) == {"most"} and engine.count() == 1


def test_a_table_of_somebody_else_is_left_alone(server, address, engine):
    server.execute(f'CREATE TABLE "{address.name}" (theirs text)')
    assert engine.describe() is None
    with pytest.raises(EngineError, match="there already"):
        engine.create(description())
    engine.drop()
    assert server.execute(f'SELECT count(*) FROM "{address.name}"') == [(0,)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"secret": "no-such-password"}, "password authentication failed"),
        ({"secret": ""}, "no password supplied"),
        ({"user": "nobody-here"}, "authentication failed"),
        ({"database": "nowhere"}, "does not exist"),
        ({"options": (("sslmode", "require"),)}, "SSL"),
    ],
)
def test_a_server_that_refuses_is_asked_once(address, changes, words, monkeypatch):
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with pytest.raises(EngineError, match=words) as error:
        PostgresEngine(replace(address, **changes)).describe()
    assert not isinstance(error.value, UnreachableError) and "\n" not in str(error.value)
    assert "no-such-password" not in str(error.value) and PASSWORD not in str(error.value)


def test_a_password_of_libpq(address, monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    engine = PostgresEngine(replace(address, secret=""))
    assert engine.describe() is None
    engine.close()


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 1), ("nowhere.invalid", 5432)])
def test_no_server(address, host, port):
    with pytest.raises(UnreachableError, match=f"{host}:{port} does not answer.*is the server running") as error:
        PostgresEngine(replace(address, host=host, port=port)).describe()
    assert "\n" not in str(error.value)


def test_options(address):
    for options, words in (((("partitions", "0"),), "1 to 1024"), ((("colour", "red"),), "no option")):
        with pytest.raises(SettingError, match=words):
            PostgresEngine(replace(address, options=options))
    one = PostgresEngine(replace(address, options=(("partitions", "1"),)))
    contract.a_row_is_replaced_as_a_whole(lambda: one)
    one.close()


def test_a_pgvector_that_is_too_old_or_not_there(server, address):
    """Its version is what the catalogue says; a user who may not make it needs somebody who may."""
    server.execute("CREATE DATABASE old")
    server.execute("CREATE EXTENSION vector", "UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'",
                   database="old")  # fmt: skip
    with pytest.raises(EngineError, match=r"pgvector 0\.6\.2, and 0\.7\.0 or newer.*ALTER EXTENSION vector UPDATE"):
        PostgresEngine(replace(address, database="old")).create(description())
    server.execute("CREATE DATABASE bare", "CREATE ROLE reader LOGIN PASSWORD 'reads'")
    with pytest.raises(EngineError, match=r"no pgvector yet, and 0\.7\.0 or newer.*CREATE EXTENSION vector"):
        PostgresEngine(replace(address, database="bare", user="reader", secret="reads")).create(description())
    server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(EngineError, match="LATIN1"):
        PostgresEngine(replace(address, database="latin")).create(description())


def test_a_user_who_may_not_write(server, address, engine):
    engine.create(description())
    server.execute("DROP ROLE IF EXISTS looker", "CREATE ROLE looker LOGIN PASSWORD 'looks'",
                   f'GRANT SELECT ON "{address.name}", "{address.name}__lexigraft" TO looker')  # fmt: skip
    looker = PostgresEngine(replace(address, user="looker", secret="looks"))
    assert looker.describe() == description() and found(looker) == set()
    with pytest.raises(EngineError, match="permission denied") as error:
        looker.load([row("a", {1: 1})])
    assert "\n" not in str(error.value) and engine.count() == 0
    looker.close()


def test_a_server_that_was_stopped_and_started(server, engine):
    """Connections that waited are found dead before they are used; while there is no server, it is said so."""
    engine.create(description())
    server.stop()
    server.start()
    assert engine.count() == 0
    server.stop()
    with pytest.raises(UnreachableError):
        engine.count()
    server.start()
    assert engine.count() == 0


@pytest.mark.parametrize("waits", [True, False])
def test_a_server_that_is_killed_during_a_load(waits, server, engine, monkeypatch, caplog):
    """It is waited for, or the load is given up and repeated: nothing is missing and nothing is there twice."""
    caplog.set_level(logging.ERROR)
    monkeypatch.setattr(backoff, "TRIES", 12 if waits else 1)
    index, killed = contract.sample_index(), threading.Event()

    def kill_half_way(done, total):
        if done >= total // 2 and not killed.is_set():
            killed.set()
            server.kill()
            if waits:
                threading.Thread(target=server.start).start()

    def load():
        return load_index(index, engine, "/there", "it", batch_rows=5, on_progress=kill_half_way)

    if waits:
        assert load() == (contract.N_ROWS, 0)
    else:
        with pytest.raises(UnreachableError):
            load()
        server.start()
        before = engine.describe().n_loaded
        assert 0 < before <= engine.count() < contract.N_ROWS
        assert load() == (contract.N_ROWS, before)
    assert killed.is_set() and engine.count() == contract.N_ROWS and engine.describe().is_complete
    contract.require_equal_rankings(engine, index, 20, 10)


def test_a_full_disk(server, address):
    """Of a batch that did not fit, nothing is there; once there is room, it is loaded."""
    small = server.folder / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", small], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        server.own(small)
        server.execute(f"CREATE TABLESPACE small LOCATION '{small}'", "CREATE DATABASE full_disk TABLESPACE small")
        engine = PostgresEngine(replace(address, database="full_disk", options=(("partitions", "2"),)))
        engine.create(description(n_terms=2000))
        written = 0
        with pytest.raises(EngineError, match="disk of the server is full") as error:
            for start in range(0, 10_000, 200):
                engine.load([row(f"r{n}", dict.fromkeys(range(900), 9), "t") for n in range(start, start + 200)])
                written += 200
        assert "\n" not in str(error.value) and not isinstance(error.value, UnreachableError)
        assert engine.count() == written and written > 0
        subprocess.run(["mount", "-o", "remount,size=40m", small], check=True)
        engine.load([row(f"r{n}", {1: 9}) for n in range(written, written + 200)])
        assert engine.count() == written + 200
        engine.close()
        server.execute("DROP DATABASE full_disk WITH (FORCE)", "DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", small], check=True)
        shutil.rmtree(small, ignore_errors=True)
