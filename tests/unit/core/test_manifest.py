"""A manifest is believed only as far as it was looked at: anything else in it is one line with the file's name."""

import json

import pytest

from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError


@pytest.fixture
def made(tmp_path):
    with write_artifact(tmp_path / "made", Manifest("thing", 1, {"number": 5, "b": {10: 1, 9: 2}})) as folder:
        (folder / "data.txt").write_text("hello")
    (tmp_path / "secret").write_text("hello")
    return tmp_path / "made"


def changed(made, **changes):
    """A manifest of a former version, without a checksum of itself, that says something else."""
    content = json.loads((made / "manifest.json").read_text())
    del content["checksum"]
    (made / "manifest.json").write_text(json.dumps({**content, **changes}))


def test_a_changed_byte_is_found(made):
    fingerprint, found = read_manifest(made).fingerprint, (made / "manifest.json").read_bytes()
    (made / "manifest.json").write_bytes(found.replace(b'"number": 5', b'"number": 7'))
    with pytest.raises(ArtifactError, match=r"manifest\.json does not match its checksum"):
        open_artifact(made, "thing", 1)
    assert read_manifest(made) is None
    (made / "manifest.json").write_bytes(found)
    changed(made)
    assert open_artifact(made, "thing", 1).fingerprint == fingerprint, "the checksum is no part of it"


FACTS = {"bytes": 5, "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}


@pytest.mark.parametrize(
    "changes",
    [
        {"files": ["data.txt"]},
        {"files": {"data.txt": 5}},
        {"files": {"data.txt": {"bytes": "5", "sha256": FACTS["sha256"]}}},
        {"files": {"data.txt": {"bytes": True, "sha256": FACTS["sha256"]}}},
        {"files": {"data.txt": {"bytes": -1, "sha256": FACTS["sha256"]}}},
        {"files": {"data.txt": {"bytes": 5}}},
        {"files": {"data.txt": {"bytes": 5, "sha256": 7}}},
        {"files": {"../secret": FACTS}},
        {"files": {"/etc/hostname": FACTS}},
        {"files": {"a/../../secret": FACTS}},
        {"files": {"": FACTS}},
        {"files": {"a\0b": FACTS}},
        {"files": None},
        {"config": []},
        {"notes": "none"},
        {"parents": {"model": 3}},
        {"parents": 3},
        {"kind": 3},
        {"kind": None},
        {"format_version": "1"},
        {"format_version": True},
        {"seed": 1.5},
        {"code_version": {}},
        {"more": 1},
    ],
    ids=str,
)
def test_what_no_manifest_has_is_one_line(made, changes):
    changed(made, **changes)
    with pytest.raises(ArtifactError, match=r"manifest\.json has ") as caught:
        open_artifact(made, "thing", 1)
    assert "\n" not in str(caught.value)
    assert read_manifest(made) is None


def test_a_manifest_that_is_no_file_or_has_thousands_of_brackets(made):
    (made / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ArtifactError, match=r"manifest\.json is not JSON"):
        open_artifact(made, "thing", 1)
    (made / "manifest.json").unlink()
    (made / "manifest.json").mkdir()
    with pytest.raises(ArtifactError, match=r"no readable manifest\.json"):
        open_artifact(made, "thing", 1)
