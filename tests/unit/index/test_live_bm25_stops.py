"""Ctrl-C at every place at which a change of a live index of BM25 waits for the disk: the old state or the new one."""

import pytest

from lexigraft.index.live.opening import create_live, open_or_begin, open_writer
from lexigraft.index.live.queries import open_live_encoder
from lexigraft.index.live.reader import open_live
from lexigraft.search.live import LiveSearcher
from tests.live import living_ids
from tests.live_bm25 import PLAIN, live_bm25_of, texts_of
from tests.live_stops import stopped_at_every_sync

OLD = {"a", "b", "c"}


def begin(folder):
    with create_live(folder) as writer:
        writer.append_texts(texts_of({"a": "red fox"}), PLAIN)


def append(folder):
    with open_writer(folder) as writer:
        writer.append_texts(texts_of({"a": "blue", "new": "fox zebra"}), PLAIN, replacing=True)


def merge(folder):
    with open_writer(folder) as writer:
        writer.merge(everything=True)


@pytest.fixture
def prepared(tmp_path):
    """A live index with a deleted document, whose words no other has."""
    live = live_bm25_of(tmp_path / "prepared", [{"a": "red fox", "x": "only here", "b": "fox"}, {"c": "fox new"}])
    with open_writer(live) as writer:
        writer.delete(["x"])
    return live


@pytest.mark.parametrize(
    ("change", "before", "afterwards"),
    [
        (begin, None, {"a"}),
        (append, OLD, {*OLD, "new"}),
        pytest.param(merge, OLD, OLD, marks=pytest.mark.integration),  # it takes long
    ],
)
def test_a_stop_at_every_sync(tmp_path, prepared, monkeypatch, change, before, afterwards):
    error = KeyboardInterrupt()
    for folder, changed in stopped_at_every_sync(tmp_path, prepared if before else None, monkeypatch, change, error):
        if changed or before:
            assert living_ids(open_live(folder)) == (afterwards if changed else before)
        with open_or_begin(folder) as writer:  # whoever comes next can go on
            writer.append_texts(texts_of({"next": "last"}), PLAIN)
        live = open_live(folder)
        assert living_ids(live) == (afterwards if changed else before or set()) | {"next"}
        found = LiveSearcher(live).search(*open_live_encoder(live, folder).encode("last here"), 5)
        assert found.doc_ids == ("next",)
