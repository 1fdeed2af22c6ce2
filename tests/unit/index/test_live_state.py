import json
import os
from dataclasses import replace

import pytest

from lexigraft.core.bounds import LARGEST_WHOLE
from lexigraft.core.errors import ArtifactError
from lexigraft.index.live.deleted import HEADER_BYTES
from lexigraft.index.live.opening import open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.live.state import DeletedFile, LiveState, SegmentState, _serialised, read_state, write_state
from tests.live import live_of

STATE = LiveState(
    generation=3,
    next_segment=5,
    vocab_fingerprint="f" * 64,
    keep=20,
    passages=True,
    query_encoder={"kind": "model", "model": "../modèle", "fingerprint": "0" * 64},
    segments=(
        SegmentState("000001", 7, 30, 0.1, "a" * 64, DeletedFile("000001-000003.npy", 2, "b" * 64)),
        SegmentState("000004", 1, 2, 1 / 3, "c" * 64),
    ),
)


def test_what_is_written_is_read(tmp_path):
    write_state(tmp_path, STATE)
    assert read_state(tmp_path) == STATE
    assert STATE.n_living == 6
    assert [path.name for path in tmp_path.iterdir()] == ["live.json"]


def test_every_changed_byte_is_found(tmp_path):
    write_state(tmp_path, STATE)
    whole = (tmp_path / "live.json").read_bytes()
    for place in range(len(whole)):
        flipped = whole[place] ^ (0x2A if whole[place] == ord("\n") else 1)  # a line's end becomes a blank
        (tmp_path / "live.json").write_bytes(whole[:place] + bytes([flipped]) + whole[place + 1 :])
        with pytest.raises(ArtifactError, match=r"live\.json does not match its checksum"):
            read_state(tmp_path)
    for end in range(0, len(whole), 50):
        (tmp_path / "live.json").write_bytes(whole[:end])
        with pytest.raises(ArtifactError, match=r"live\.json does not match its checksum"):
            read_state(tmp_path)


@pytest.mark.parametrize("state", [STATE, replace(STATE, mean_length=2.5)])
def test_formats_before_this_one_said_less(state, tmp_path):
    """Format 1 knew no average length, format 2 no metadata, format 3 no graft: what they do not say is none."""
    write_state(tmp_path, state)
    written = json.loads((tmp_path / "live.json").read_text())
    assert written["format_version"] == 4 and read_state(tmp_path) == state
    assert written.pop("graft") is None
    (tmp_path / "live.json").write_bytes(_serialised({**written, "format_version": 3}))
    assert read_state(tmp_path) == state
    former = {**written, "format_version": 1 if state.mean_length is None else 2}
    for segment in former["segments"]:
        assert segment.pop("metadata") is None
    if state.mean_length is None:
        del former["mean_length"]
    (tmp_path / "live.json").write_bytes(_serialised(former))
    assert read_state(tmp_path) == state


def test_other_folders(tmp_path):
    with pytest.raises(ArtifactError, match="there is no live index at"):
        read_state(tmp_path / "absent")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ArtifactError, match="holds another artifact"):
        read_state(tmp_path)


def test_another_format_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.index.live.state.FORMAT_VERSION", 5)
    write_state(tmp_path, replace(STATE, mean_length=2.5))
    monkeypatch.undo()
    with pytest.raises(
        ArtifactError, match="has live index format 5, this version of Lexigraft reads live index formats 1, 2, 3, 4"
    ):
        read_state(tmp_path)
    monkeypatch.setattr("lexigraft.index.live.state.KIND", "other")
    write_state(tmp_path, STATE)
    monkeypatch.undo()
    with pytest.raises(ArtifactError, match="has other format 4"):
        read_state(tmp_path)


def test_a_state_is_no_hole(tmp_path):
    write_state(tmp_path, STATE)
    os.truncate(tmp_path / "live.json", LARGEST_WHOLE + 1)
    with pytest.raises(ArtifactError, match=r"live\.json is larger than 64 MiB"):
        read_state(tmp_path)


def test_deleted_rows_take_as_many_bytes_as_there_are(tmp_path):
    """A byte more is not read, nor are the bits of more rows than the segment has."""
    live_of(tmp_path / "live", [{f"d{n}": {0: 1.0} for n in range(20)}], 2)
    with open_writer(tmp_path / "live") as writer:
        writer.delete(["d3"])
    (bits,) = (tmp_path / "live/deleted").iterdir()
    assert bits.stat().st_size == HEADER_BYTES + 3
    whole = bits.read_bytes()
    os.truncate(bits, 3 << 30)
    with pytest.raises(ArtifactError, match=rf"{bits.name} is larger than 131 bytes"):
        open_live(tmp_path / "live")
    bits.write_bytes(whole)
    state = read_state(tmp_path / "live")
    write_state(tmp_path / "live", replace(state, segments=(replace(state.segments[0], n_rows=2**31 - 1),)))
    os.truncate(bits, HEADER_BYTES + 2**28)
    with pytest.raises(ArtifactError, match="has 20 rows and 20 postings, its state says"):
        open_live(tmp_path / "live")
