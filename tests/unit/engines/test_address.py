"""Addresses of engines, as users write them; none shows a secret."""

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import SECRET, Address, is_address, parse_address
from lexigraft.engines.postgres_shard_places import shards_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("milvus://host:19530/papers", Address("milvus", "papers", "host", 19530)),
        ("qdrant://a-key@host/papers", Address("qdrant", "papers", "host", secret="a-key")),
        ("qdrant://host/papers?https=yes", Address("qdrant", "papers", "host", options=(("https", "yes"),))),
        ("postgres://me:p%40ss@[::1]:5433/db/t", Address("postgresql", "t", "::1", 5433, "db", "me", "p@ss")),
        ("postgresql://me@host/db/t", Address("postgresql", "t", "host", None, "db", "me")),
    ],
)
def test_it_is_read(text, found, monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    assert parse_address(text) == found and is_address(text)
    assert "p@ss" not in str(found) + repr(found) and "a-key" not in str(found) + repr(found)


def test_files_of_this_machine(tmp_path):
    found = parse_address(f"milvus:{tmp_path}/papers")
    assert found.is_local and found.folder == tmp_path and str(found) == f"milvus:{tmp_path}/papers"


def test_a_secret_of_the_environment(monkeypatch):
    monkeypatch.setenv(SECRET, "hidden")
    assert parse_address("milvus://host/papers").secret == "hidden" and "hidden" not in str(
        parse_address("milvus://h/p")
    )


@pytest.mark.parametrize(
    "text",
    ["redis://host/papers", "milvus://host", "milvus://host/", "milvus://host/a/b/c", "milvus://host/9x", "milvus://h/a-b",
     "milvus://host:99999/a", "milvus:/papers", "postgresql:/tmp/x", "qdrant://secret@host/a#b", "milvus:///x/y z"],
)  # fmt: skip
def test_what_is_no_address(text):
    with pytest.raises(SettingError) as error:
        parse_address(text)
    assert "secret" not in str(error.value) and "\n" not in str(error.value)


def test_folders_are_no_addresses():
    assert not any(map(is_address, ["runs/mine", "/data/milvus", "C:/x", "milvus", "http://x/y"]))


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user:sec/ret@host/db/papers",
        "postgresql://user:sec\u2100ret@host/db/papers",
        "qdrant://sec/ret@host:6333/papers",
        "postgresql://user:fine@host/db/papers?shards=one:sec",
    ],
)
def test_no_part_of_a_password_is_repeated(text):
    with pytest.raises(SettingError) as error:
        shards_of(parse_address(text))
    assert "sec" not in str(error.value) and "write" in str(error.value)
