"""Addresses of engines as they are shown and written down: all but the secret."""

from pathlib import Path

import pytest

from lexigraft.core.errors import SettingError
from lexigraft.engines.address import SECRET, parse_address
from lexigraft.integrations.addresses import shown_path, without_secret
from lexigraft.retrieve.retriever import Retriever

ADDRESSES = [
    ("postgresql://me:hush@host:5433/db/papers?sslmode=require", "postgresql://me@host:5433/db/papers?sslmode=require"),
    ("postgres://a%40b:hu%3Ash@h/db/papers", "postgres://a%40b@h/db/papers"),
    ("postgresql://me:hush@h/db/papers?shards=a,b:5433/x", "postgresql://me@h/db/papers?shards=a,b:5433/x"),
    ("postgresql://me:hush@h/db/papers?shards=x:hush@a", "postgresql://me@h/db/papers"),
    ("qdrant://hush@[::1]:6333/papers?https=yes&api_key=hush", "qdrant://[::1]:6333/papers?https=yes"),
    ("milvus://root:hush@host/papers?timeout=3", "milvus://host/papers?timeout=3"),
    ("milvus:/data/milvus.db/papers", "milvus:/data/milvus.db/papers"),
    ("qdrant://host/papers", "qdrant://host/papers"),
]


@pytest.mark.parametrize(("given", "written"), ADDRESSES)
def test_an_address_is_written_without_its_secret(given, written, monkeypatch):
    assert without_secret(given) == written and "hush" not in written
    assert "hush" not in shown_path(given) and parse_address(given).name in shown_path(given)
    monkeypatch.setenv(SECRET, "hush")
    first, again = parse_address(given), parse_address(written)
    assert (again.host, again.port, again.database, again.folder) == (
        first.host, first.port, first.database, first.folder,
    )  # fmt: skip
    if not first.is_local and first.secret == "hush":
        assert again.secret == "hush"


def test_what_is_no_address():
    for path in ("runs/mine", "C:\\runs", "/a b/@c:d"):
        assert without_secret(path) == shown_path(path) == shown_path(Path(path)) == path
    with Retriever.from_texts(["a cat"]) as opened:
        assert shown_path(opened) == opened.name
    assert shown_path("qdrant://hush@host:6333") == "qdrant:..."
    with pytest.raises(SettingError, match="cannot name a collection") as raised:
        without_secret("qdrant://hush@host:6333")
    assert "hush" not in str(raised.value)
