"""What was made here is known by a record that no folder can bring along; everything else is looked through."""

import json
import os
import shutil
from itertools import pairwise

import pytest

from lexigraft.core import made_here
from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.known_checksums import reading_every_byte
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.sealed_json import write_sealed

MADE = Manifest("thing", 1, {})


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The user's state folder, and a process that has written nothing yet."""
    monkeypatch.delenv("LEXIGRAFT_VALIDATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(made_here, "_confirmed", {})
    return tmp_path / "state" / "lexigraft"


@pytest.fixture
def made(tmp_path):
    with write_artifact(tmp_path / "made", MADE) as folder:
        (folder / "content").write_text("what kernels believe")
    made_here._confirmed.clear()  # as in the next process
    return tmp_path / "made"


def is_looked_through(path, checksums=True, part=""):
    looked = []
    manifest = open_artifact(path, "thing", 1, checksums)
    validate_unless_known(path, manifest, checksums, lambda: looked.append(1), part)
    made_here._confirmed.clear()
    return bool(looked)


def strangers(made, tmp_path, content="what kernels must not see"):
    """The same artifact with another content of the same kind, whose checksums are right."""
    folder = tmp_path / "strangers"
    with write_artifact(folder, MADE) as draft:
        (draft / "content").write_text(content)
    shutil.rmtree(tmp_path / "state" / "lexigraft" / "made_here")  # it was made on another machine
    return folder


def test_what_was_made_here_is_not_looked_through(made):
    assert not is_looked_through(made)
    assert not is_looked_through(made, checksums=False)


def test_what_was_made_elsewhere_is_looked_through_once(made, tmp_path):
    folder = strangers(made, tmp_path)
    assert [is_looked_through(folder) for _ in range(3)] == [True, False, False]


def test_the_same_manifest_beside_other_files_is_looked_through(made, tmp_path):
    """In one process, and without checksums: what it knows of one folder it does not know of another."""
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    (copy / "content").write_text("what kernels bElieve")  # as long as before
    looked = []
    for folder, checksums in ((made, True), (copy, False), (made, False), (copy, False)):
        manifest = open_artifact(folder, "thing", 1, checksums)
        validate_unless_known(folder, manifest, checksums, lambda: looked.append(folder.name))  # noqa: B023
    assert looked == ["copy", "copy"]


def test_what_was_just_made_is_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(made_here, "_has_checksum", lambda *_: pytest.fail("it was written a moment ago"))
    folder = _remade(tmp_path)
    validate_unless_known(folder, open_artifact(folder, "thing", 1, False), False, lambda: pytest.fail("made here"))


def test_folders_that_lead_elsewhere_are_not_known(tmp_path):
    with write_artifact(tmp_path / "made", MADE) as draft:
        (draft / "inner").mkdir()
        (draft / "inner" / "content").write_text("what kernels believe")
    (tmp_path / "made" / "inner").rename(tmp_path / "outside")
    (tmp_path / "outside" / "more").write_text("that nobody listed")
    (tmp_path / "made" / "inner").symlink_to(tmp_path / "outside")
    assert is_looked_through(tmp_path / "made")


def test_what_does_not_pass_is_looked_through_again(made, tmp_path):
    folder = strangers(made, tmp_path)

    def refuse():
        raise ArtifactError("no")

    for _ in range(2):
        with pytest.raises(ArtifactError, match="no"):
            validate_unless_known(folder, read_manifest(folder), True, refuse)


def test_parts_are_known_one_by_one(made, tmp_path):
    folder = strangers(made, tmp_path)
    assert is_looked_through(folder, part="lists")
    assert is_looked_through(folder, part="counts")
    assert not is_looked_through(folder, part="lists")
    assert not is_looked_through(_remade(tmp_path), part="counts")


def _remade(tmp_path):
    with write_artifact(tmp_path / "again", MADE) as folder:
        (folder / "content").write_text("another")
    return tmp_path / "again"


def test_without_checksums_a_content_that_was_exchanged_is_looked_through(made):
    (made / "content").write_text("what kernels BELIEVE")  # of the same size: nothing but its checksum tells
    assert is_looked_through(made, checksums=False)
    assert is_looked_through(made, checksums=False), "what was not compared is not remembered"


def test_a_file_that_the_manifest_does_not_name_is_believed_by_nobody(made):
    (made / "texts").write_text("put beside it later")
    assert [is_looked_through(made) for _ in range(2)] == [True, True]


def test_a_manifest_that_names_nothing_vouches_for_nothing(made):
    manifest = json.loads((made / "manifest.json").read_text())
    write_sealed(made / "manifest.json", {**manifest, "files": {}})
    assert [is_looked_through(made) for _ in range(2)] == [True, True]


def test_the_key_is_the_users_alone(made, state):
    key = state / "made_here.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_bytes()) == 32
    assert not is_looked_through(made)
    key.chmod(0o644)
    assert is_looked_through(made), "others can read it, and so make records"


def test_records_of_another_key_are_none(made, state):
    (state / "made_here.key").write_bytes(os.urandom(32))
    assert is_looked_through(made)


def test_a_state_folder_that_cannot_be_written_changes_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    folder = _remade(tmp_path)
    made_here._confirmed.clear()
    assert [is_looked_through(folder) for _ in range(2)] == [True, True]


def test_it_can_be_asked_for(made, monkeypatch):
    with reading_every_byte():
        assert is_looked_through(made)
    monkeypatch.setenv("LEXIGRAFT_VALIDATE", "always")
    assert is_looked_through(made)


def test_errors_of_looking_through_name_the_artifact(made, tmp_path):
    folder = strangers(made, tmp_path)

    def stumble():
        raise IndexError("list index out of range")

    with pytest.raises(ArtifactError, match=r"strangers does not fit together .*made by another program"):
        validate_unless_known(folder, read_manifest(folder), True, stumble)


def test_the_oldest_are_forgotten(made, state, monkeypatch):
    (state / "made_here.key").write_bytes(b"\1" * made_here.KEY_BYTES)  # names are made of it: the same ones always
    monkeypatch.setattr(made_here, "MOST", 50)
    n_left = []
    for number in range(400):
        made_here.record(f"{number}")
        n_left.append(len(list((state / "made_here").iterdir())))
    left_over = [after for before, after in pairwise(n_left) if after <= before]
    assert len(left_over) > 2 and set(left_over) == {25}
    assert max(n_left) <= 100
