"""What a reader of a live index sees, while others write and where files are damaged."""

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.index.live import reader as live_module
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.search.live import LiveSearcher
from tests.live import live_of, living_ids, vectors_of

QUERY = np.array([0], np.int32), np.array([1], np.float32)


@pytest.fixture
def folder(tmp_path):
    path = live_of(tmp_path / "live", [{"a": {0: 1.0}, "b": {0: 2.0, 1: 1.0}}, {"c": {0: 1.5}, "e": {2: 1.0}}], 3)
    with open_writer(path) as writer:
        writer.delete(["a", "c"])
    return path


def test_every_file_is_checked_and_named(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]
    assert {path.parent.name for path in files} == {"live", "deleted", "000001", "000002"}
    rng = np.random.default_rng(0)
    for path in files:
        whole = path.read_bytes()
        for place in {0, len(whole) - 1, *rng.integers(len(whole), size=6).tolist()} if whole else ():
            changed = bytearray(whole)
            changed[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            with pytest.raises(ArtifactError, match=str(path)):
                open_live(folder)
        path.write_bytes(whole)
        path.unlink()
        with pytest.raises(ArtifactError, match=str(path if path.name != "live.json" else "no live index")):
            open_live(folder)
        path.write_bytes(whole)
    assert living_ids(open_live(folder)) == {"b", "e"}


def test_without_checksums_the_bytes_of_segments_are_not_read(folder):
    titles = folder / "segments/000001/titles.utf8"
    titles.write_bytes(titles.read_bytes().upper())
    open_live(folder, checksums=False)
    with pytest.raises(ArtifactError, match=r"titles\.utf8 does not match its checksum"):
        open_live(folder, checksums=True)


def test_an_open_reader_keeps_its_state(folder):
    before = open_live(folder)
    ranking = LiveSearcher(before).search(*QUERY, 5)
    with open_writer(folder) as writer:
        writer.append(vectors_of({"f": {0: 9.0}}, 3))
        writer.delete(["b"])
        writer.merge(everything=True)
    assert LiveSearcher(before).search(*QUERY, 5) == ranking
    assert living_ids(before) == {"b", "e"}
    assert living_ids(open_live(folder)) == {"e", "f"}


def test_a_reader_whose_state_goes_away_opens_the_next(folder, monkeypatch):
    """A writer merges between the reading of the state and the opening of what it names."""
    read, calls = live_module.read_state, []

    def read_then_write(path):
        state = read(path)
        if len(calls) < 3:
            calls.append(state.generation)
            with open_writer(path) as writer:
                writer.append(vectors_of({f"n{len(calls)}": {0: 1.0}}, 3))
                writer.merge(everything=True)
        return state

    monkeypatch.setattr(live_module, "read_state", read_then_write)
    assert living_ids(open_live(folder)) == {"b", "e", "n1", "n2", "n3"}
    assert len(calls) == 3


def test_a_reader_gives_up_some_day(folder, monkeypatch):
    read = live_module.read_state

    def read_then_write(path):
        state = read(path)
        with open_writer(path) as writer:
            writer.append(vectors_of({f"n{state.generation}": {0: 1.0}}, 3))
            writer.merge(everything=True)
        return state

    monkeypatch.setattr(live_module, "ATTEMPTS", 3)
    monkeypatch.setattr(live_module, "read_state", read_then_write)
    with pytest.raises(ArtifactError, match="was changed 3 times while it was opened"):
        open_live(folder)


def test_where_a_document_lives(folder):
    found = open_live(folder)
    assert found.segment_of("b") is found.segments[0]
    assert found.segment_of("e") is found.segments[1]
    assert [found.holds(doc_id) for doc_id in "abcez"] == [False, True, False, True, False]
    for doc_id in ("a", "z"):
        with pytest.raises(InputError, match=f"there is no document '{doc_id}' in this index of 2 documents"):
            found.segment_of(doc_id)


def test_a_document_is_meant_before_another_ones_passage(tmp_path):
    documents = [{"a": [{0: 1.0}]}, {"a#0": [{0: 2.0}]}]  # the second's id is that of the first one's passage
    live = open_live(live_of(tmp_path / "p", documents, 1, passages=True))
    assert live.segment_of("a#0") is live.segments[1]
    assert live.segment_of("a") is live.segments[0]
    assert live.segment_of("a#0#0") is live.segments[1]


def test_an_id_that_is_not_utf8_is_unknown(tmp_path):
    path = live_of(tmp_path / "q", [{"a?": {0: 1.0}}], 1)
    assert not open_live(path).holds("a\udcff")
    with pytest.raises(InputError, match="1 of 1 ids are not in"), open_writer(path) as writer:
        writer.delete(["a\udcff"])
