"""Which texts a live index keeps: those of living documents count, and what goes beyond the limit is said."""

import logging

import pytest

from lexigraft.core.settings import IndexSettings
from lexigraft.core.settings import index as index_settings
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.texts import KeptText, StoredTexts, TextWriter
from lexigraft.retrieve.opened import Opened
from lexigraft.retrieve.place import find_place
from tests.live import vectors_of
from tests.live_bm25 import PLAIN, texts_of

LIMIT = 100  # bytes
SAID = "does not keep the texts of the documents that were added now"


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(index_settings, "AUTO_TEXTS_MIB", LIMIT / 2**20)


def fox(n_bytes):
    return ("fox " * n_bytes)[:n_bytes]


def add_bm25(folder, documents, replacing=False, settings=None):
    with open_writer(folder) if folder.exists() else create_live(folder) as writer:
        writer.append_texts(texts_of(documents), PLAIN, replacing=replacing, settings=settings)


def add_vectors(folder, documents, replacing=False, settings=None):
    """As those of a model are added, whose texts were written on the way."""
    settings = settings or IndexSettings()
    with open_writer(folder) if folder.exists() else create_live(folder) as writer, writer.scratch() as scratch:
        with TextWriter(scratch, settings.most_text_bytes) as texts:
            for text in documents.values():
                texts.append(KeptText("", text))
        vectors = vectors_of({doc_id: {0: 1.0} for doc_id in documents}, 1)
        writer.append(vectors, replacing=replacing, settings=settings, texts=scratch)


ways = pytest.mark.parametrize("add", [add_bm25, add_vectors])


def kept(folder):
    """{doc_id: its text} of living documents."""
    found = {}
    for segment in open_live(folder).segments:
        for ordinal, doc_id in enumerate(segment.index.doc_ids):
            if segment.allowed is None or segment.allowed[ordinal]:
                text = segment.index.texts and segment.index.texts.get(ordinal)
                found[doc_id] = text and text.text
    return found


@ways
@pytest.mark.parametrize("reorder", [False, True])
def test_what_is_replaced_makes_room(add, reorder, tmp_path, caplog):
    settings = IndexSettings(reorder=reorder)
    for n_bytes in (30, 31, 32):
        documents = {"a": fox(n_bytes), "b": fox(2 * n_bytes)}
        add(tmp_path / "live", documents, replacing=True, settings=settings)
        assert kept(tmp_path / "live") == documents
    add(tmp_path / "live", {"b": fox(68)}, replacing=True, settings=settings)  # 32 + 68: the limit itself
    assert kept(tmp_path / "live") == {"a": fox(32), "b": fox(68)}
    assert SAID not in caplog.text


@ways
def test_what_is_deleted_makes_room(add, tmp_path, caplog):
    add(tmp_path / "live", {"a": fox(20), "b": fox(60)})
    with open_writer(tmp_path / "live") as writer:
        writer.delete(["b"])
    add(tmp_path / "live", {"c": fox(80)})
    assert kept(tmp_path / "live") == {"a": fox(20), "c": fox(80)}
    assert SAID not in caplog.text


@ways
@pytest.mark.parametrize("n_bytes", [81, LIMIT + 1])
def test_a_batch_beyond_the_limit_is_not_kept_and_that_is_said(add, n_bytes, tmp_path, caplog):
    live = tmp_path / "live"
    add(live, {"a": fox(20)})
    with caplog.at_level(logging.WARNING):
        add(live, {"b": fox(n_bytes)})
    assert kept(live) == {"a": fox(20), "b": None}
    assert len(caplog.records) == 1 and f"{live} {SAID}" in caplog.text and "--replace --texts yes" in caplog.text
    assert Opened(find_place(live)).keeps_texts
    add(live, {"b": fox(n_bytes)}, replacing=True, settings=IndexSettings(texts="yes"))
    assert kept(live)["b"] == fox(n_bytes)
    assert len(caplog.records) == 1


@ways
def test_texts_of_dead_documents_are_none(add, tmp_path):
    live = tmp_path / "live"
    add(live, {"a": fox(20), "b": fox(20)})
    assert Opened(find_place(live)).keeps_texts
    add(live, {"a": fox(LIMIT + 1), "b": "fox"}, replacing=True)
    assert kept(live) == {"a": None, "b": None}
    assert not Opened(find_place(live)).keeps_texts
    with open_writer(live) as writer:
        writer.merge(everything=True)
    assert not list(live.glob("segments/*/texts.*"))


@ways
def test_rows_are_looked_at_only_where_that_decides(add, tmp_path, monkeypatch):
    def counted(*_):
        raise AssertionError("every row is looked at")

    monkeypatch.setattr(StoredTexts, "count_bytes", counted)
    for n in range(3):
        add(tmp_path / "live", {f"d{n}": fox(20)})
    for n, texts in enumerate(("yes", "no")):
        add(tmp_path / "live", {f"e{n}": fox(LIMIT)}, settings=IndexSettings(texts=texts))
    assert list(map(bool, kept(tmp_path / "live").values())) == [True, True, True, True, False]
