import json
from dataclasses import replace

import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.index.live.state import DeletedFile, LiveState, SegmentState, read_state, write_state

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


def test_only_an_index_of_bm25_has_the_newer_format(tmp_path):
    for state, version in ((STATE, 1), (replace(STATE, mean_length=2.5), 2)):
        write_state(tmp_path, state)
        content = json.loads((tmp_path / "live.json").read_text())
        assert (content["format_version"], "mean_length" in content) == (version, version == 2)
        assert read_state(tmp_path) == state


def test_other_folders(tmp_path):
    with pytest.raises(ArtifactError, match="there is no live index at"):
        read_state(tmp_path / "absent")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ArtifactError, match="holds another artifact"):
        read_state(tmp_path)


def test_another_format_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("lexigraft.index.live.state.FORMAT_VERSION", 3)
    write_state(tmp_path, replace(STATE, mean_length=2.5))
    monkeypatch.undo()
    with pytest.raises(
        ArtifactError, match="has live index format 3, this version of Lexigraft reads live index formats 1 and 2"
    ):
        read_state(tmp_path)
    monkeypatch.setattr("lexigraft.index.live.state.KIND", "other")
    write_state(tmp_path, STATE)
    monkeypatch.undo()
    with pytest.raises(ArtifactError, match="has other format 1"):
        read_state(tmp_path)
