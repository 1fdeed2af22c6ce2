"""Ctrl-C at every place at which a graft, or an addition to a grafted index, waits for the disk."""

import pytest

from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import read_state
from tests.live import living_ids
from tests.live_bm25 import live_bm25_of
from tests.live_grafted import add, documents_of, graft, rows_of
from tests.live_stops import stopped_at_every_sync

TEXTS, VECTORS = documents_of(8)
NEW, OF_NEW = documents_of(2, seed=3, first=8)


def graft_all(folder):
    graft(folder, rows_of(VECTORS, TEXTS))


def append(folder):
    add(folder, NEW, OF_NEW)


@pytest.mark.parametrize("change", [graft_all, append])
def test_a_stop_at_every_sync(tmp_path, monkeypatch, change):
    prepared = live_bm25_of(tmp_path / "prepared", [TEXTS])
    if change is append:
        graft_all(prepared)
    before = read_state(prepared).graft
    for folder, changed in stopped_at_every_sync(tmp_path, prepared, monkeypatch, change, KeyboardInterrupt()):
        state, live = read_state(folder), open_live(folder)
        assert living_ids(live) == TEXTS.keys() | (NEW.keys() if changed and change is append else set())
        assert (state.graft != before) == (changed and change is graft_all)
        if change is append and not changed:
            append(folder)  # whoever comes next can go on
