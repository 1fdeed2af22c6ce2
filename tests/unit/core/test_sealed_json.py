"""A sealed object is read as it was written, or not at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import ArtifactError
from lexigraft.core.sealed_json import read_sealed, sealed, unsealed, write_sealed

CONTENT = {"systems": ["bm25", "esplade"], "cost": 0.5, "é": None}


def test_what_was_written_is_read_without_its_checksum(tmp_path: Path) -> None:
    write_sealed(tmp_path / "run.json", CONTENT)
    assert read_sealed(tmp_path / "run.json") == CONTENT
    assert list(tmp_path.iterdir()) == [tmp_path / "run.json"]


@given(st.integers(0, len(sealed(CONTENT)) - 1), st.integers(1, 255))
def test_any_changed_byte_is_found(place: int, change: int) -> None:
    damaged = bytearray(sealed(CONTENT))
    damaged[place] ^= change
    try:
        found = unsealed(bytes(damaged), Path("run.json"))
    except ArtifactError as error:
        assert "run.json" in str(error)
    else:  # the key itself was damaged: the reader of the object does not know such a key
        assert set(found) - set(CONTENT) != set()


def test_a_file_of_a_former_version_has_no_checksum(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"a": 1}')
    assert read_sealed(tmp_path / "run.json") == {"a": 1}


@pytest.mark.parametrize("content", ["", "[1]", "[" * 3000, '{"a": 1', '{"a": "\\ud800", "checksum": ""}', "\x00"])
def test_what_is_no_object_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ArtifactError, match=r"run\.json"):
        read_sealed(tmp_path / "run.json")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"run\.json is missing"):
        read_sealed(tmp_path / "run.json")
    (tmp_path / "run.json").mkdir()
    with pytest.raises(ArtifactError, match=r"run\.json cannot be read"):
        read_sealed(tmp_path / "run.json")
