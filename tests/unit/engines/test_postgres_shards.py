"""Addresses with shards, and what is told and said of them, without a server."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.engines import postgres_shards
from lexigraft.engines.address import Address, parse_address
from lexigraft.engines.engine import EngineError, UnreachableError
from lexigraft.engines.postgres_errors import while_working
from lexigraft.engines.postgres_shard_places import MOST_SHARDS, RecordedShard, part_of, place_of, shards_of
from lexigraft.engines.postgres_shards import ShardedPostgresEngine

WHOLE = "postgresql://me:hidden@db.example/search/papers?shards=one,two:5433/other,[::1]:5434&sslmode=require"


def test_each_is_a_collection_of_its_own():
    """With the address's user, password, database and encryption, unless it says otherwise."""
    address = parse_address(WHOLE)
    encrypted = (("sslmode", "require"),)
    assert shards_of(address) == [
        Address("postgresql", "papers__s0", "one", 5432, "search", "me", "hidden", None, encrypted),
        Address("postgresql", "papers__s1", "two", 5433, "other", "me", "hidden", None, encrypted),
        Address("postgresql", "papers__s2", "::1", 5434, "search", "me", "hidden", None, encrypted),
    ]
    assert len(part_of("x" * 45, MOST_SHARDS - 1) + "__lexigraft") <= 63  # bytes of a name in PostgreSQL
    places = [place_of(one) for one in shards_of(address)]
    assert places == ["one:5432/search", "two:5433/other", "[::1]:5434/search"]
    again = parse_address(f"postgresql://me@db.example/search/papers?shards={','.join(places)}")
    assert [place_of(one) for one in shards_of(again)] == places
    assert str(RecordedShard("::1", "5434", "search", "papers__s2")) == places[2]


def test_an_address_says_its_shards():
    """What is printed can be given again; of other engines, shards are a number and no place."""
    address = parse_address(WHOLE)
    assert str(address) == "postgresql://me@db.example/search/papers?shards=one,two:5433/other,[::1]:5434"
    assert shards_of(parse_address(str(address))) == [
        Address("postgresql", one.name, one.host, one.port, one.database, "me") for one in shards_of(address)
    ]
    assert str(parse_address("qdrant://h/papers?shards=4")) == "qdrant://h/papers"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("postgresql://h/d/n?shards=", "no server"), ("postgresql://h/d/n?shards=a,,b", "no server"),
        ("postgresql://h/d/n?shards=a:99999", "cannot be read"), ("postgresql://h/d/n?shards=a/b/c", "no server"),
        ("postgresql://h/d/n?shards=u:s3cret@a", "no '@'"), ("postgresql://h/n?shards=a", "names its database"),
        ("postgresql://h/d/n?shards=a&partitions=3", "exclude each other"),
        ("postgresql://h/d/n?shards=" + ",".join(["a"] * 257), "257 servers, and 256 are allowed"),
    ],
)  # fmt: skip
def test_addresses_that_are_none(text, words, monkeypatch):
    monkeypatch.delenv("LEXIGRAFT_ENGINE_SECRET", raising=False)
    with pytest.raises(SettingError, match=words) as error:
        shards_of(parse_address(text))
    assert "\n" not in str(error.value) and "s3cret" not in str(error.value) + str(parse_address(text))


@pytest.mark.parametrize(
    ("detail", "kind", "words"),
    [
        ('connection to server at "10.0.0.2", port 5432 failed: Connection refused\n\tIs the server running?',
         UnreachableError, "db.example:5432 does not reach its shard papers__s1 (Connection refused); is that server"),
        ('connection to server at "10.0.0.2", port 5432 failed: FATAL:  password authentication failed for user "me"',
         EngineError, 'cannot log in to its shard papers__s1 (password authentication failed for user "me"); mend'),
        (None, UnreachableError, "does not reach its shard papers__s1"),
    ],
)  # fmt: skip
def test_a_coordinator_that_finds_no_way_to_a_shard(detail, kind, words):
    said = SimpleNamespace(message_primary='could not connect to server "papers__s1"', message_detail=detail)
    error = while_working(SimpleNamespace(sqlstate="08001", diag=said), parse_address(WHOLE))
    assert type(error) is kind and words in str(error) and "\n" not in str(error) and "hidden" not in str(error)


@pytest.fixture
def sharded(monkeypatch):
    """An engine over shards that keep rows in memory; `recorded` are those that the coordinator knows of."""

    class Shard:
        def __init__(self, address, is_part):
            self.rows = {"a", "b"}

        def delete(self, row_ids):
            self.rows -= set(row_ids)

        def count(self):
            return len(self.rows)

        def close(self):
            pass

    class Coordinator:
        def __init__(self, address):
            self.close = lambda: None

        @contextmanager
        def transaction(self):
            if recorded is None:
                raise UnreachableError("db.example:5432 does not answer (refused); is the server running?")
            yield SimpleNamespace(execute=lambda *_: SimpleNamespace(fetchall=lambda: recorded))

    def make(places):
        nonlocal recorded
        recorded = places
        engine = ShardedPostgresEngine(parse_address("postgresql://me@h/d/papers?shards=one,two"))
        made.append(engine)
        return engine

    recorded, made = None, []
    monkeypatch.setattr(postgres_shards, "PostgresEngine", Shard)
    monkeypatch.setattr(postgres_shards, "Connections", Coordinator)
    monkeypatch.setattr(postgres_shards, "sharded_statements", lambda *_: SimpleNamespace())
    yield make
    for engine in made:
        engine.close()


SAME = [("one", "5432", "d", "papers__s0"), ("two", "5432", "d", "papers__s1")]


@pytest.mark.parametrize(
    ("places", "error", "words"),
    [
        ([SAME[0], ("three", "5432", "d", "papers__s1")], EngineError, "made with shards=one:5432/d,three:5432/d"),
        (None, UnreachableError, "does not answer"),
    ],
)
def test_no_row_is_deleted_where_the_shards_are_others(places, error, words, sharded):
    engine = sharded(places)
    with pytest.raises(error, match=words):
        engine.delete(["a"])
    engine._pool.shutdown()  # whatever was begun is done
    assert [shard.rows for shard in engine._shards] == [{"a", "b"}, {"a", "b"}]


def test_rows_are_deleted_in_every_shard(sharded):
    engine = sharded(SAME)
    engine.delete(["a", "z"])
    assert [shard.rows for shard in engine._shards] == [{"b"}, {"b"}] and engine.count() == 2
