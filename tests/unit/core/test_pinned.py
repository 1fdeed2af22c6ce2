"""All that is read of a folder is of one version, and errors name the path that the user gave."""

import shutil
from pathlib import Path

import pytest

from lexigraft.core import artifact, pinned
from lexigraft.core.artifact import Manifest, open_artifact, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import ATTEMPTS, known_as, of_one_version, read_pinned


def write(path, text):
    with write_artifact(path, Manifest("thing", 1, {})) as folder:
        (folder / "left").write_text(text)
        (folder / "right").write_text(text)


@pytest.fixture(params=["descriptor", "plain path"])
def made(tmp_path, request, monkeypatch):
    if request.param == "plain path":  # as on a system without /proc
        monkeypatch.setattr(pinned, "DESCRIPTORS", tmp_path / "no such folder")
    write(tmp_path / "made", "old")
    return tmp_path / "made"


def test_a_swap_between_two_files_gives_both_of_one_version(made):
    swaps = iter(["new"])

    def load(folder):
        left = (folder / "left").read_text()
        for text in swaps:
            write(made, text)
        return left, (folder / "right").read_text()

    assert read_pinned(made, load) == ("new", "new")


def test_what_is_not_removed_yet_is_read_to_its_end(tmp_path):
    """A former version that is still whole is a right answer: nothing is read twice for it."""
    write(tmp_path / "made", "old")
    tries = []

    def load(folder):
        tries.append((folder / "left").read_text())
        (tmp_path / "made").rename(tmp_path / "elsewhere")
        write(tmp_path / "made", "new")
        return tries[-1], (folder / "right").read_text()

    assert read_pinned(tmp_path / "made", load) == ("old", "old")
    assert tries == ["old"]


def test_a_former_version_of_which_a_file_is_gone_is_not_believed(made):
    """A loader that takes a missing file for one that was never there."""
    swaps = iter(["new"])

    def load(folder):
        for text in swaps:
            write(made, text)
        return [name for name in ("left", "right") if (folder / name).is_file()]

    assert read_pinned(made, load) == ["left", "right"]


def test_replaced_again_and_again(made):
    def load(folder):
        write(made, "next")
        return (folder / "left").read_text()

    with pytest.raises(ArtifactError, match=f"made was replaced {ATTEMPTS} times while it was opened"):
        read_pinned(made, load)


def test_errors_and_names_are_those_of_the_user(made):
    @of_one_version
    def load(folder):
        assert known_as(folder / "left") == made / "left"
        return open_artifact(folder, "house", 1)

    with pytest.raises(ArtifactError) as caught:
        load(made)
    assert str(caught.value) == f"{made} holds a thing, not a house; give the folder of a house"

    def missing(folder):
        return (folder / "absent").read_text()

    with pytest.raises(FileNotFoundError) as other:
        read_pinned(made, missing)
    assert other.value.filename == str(made / "absent")
    assert known_as(made) == made


def test_no_descriptor_stays_open(made):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        read_pinned(made, lambda folder: (folder / "left").read_text())
        with pytest.raises(ArtifactError):
            open_artifact(made, "house", 1)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_what_was_moved_aside_is_read_there(made):
    """A writer without an exchange of names was killed between its two renames."""
    shutil.copytree(made, made.with_name("made.old-good"))  # somebody's copy
    made.rename(made.with_name("made.old-999999"))
    assert read_pinned(made, lambda folder: (folder / "left").read_text()) == "old"
    assert open_artifact(made, "thing", 1).kind == "thing"
    shutil.rmtree(made.with_name("made.old-999999"))
    with pytest.raises(ArtifactError, match="there is no thing at"):
        open_artifact(made, "thing", 1)


def test_a_swap_without_an_exchange_of_names(made, monkeypatch):
    monkeypatch.setattr(artifact, "exchange", lambda one, other: False)
    write(made, "new")
    assert read_pinned(made, lambda folder: (folder / "left").read_text()) == "new"
    assert [path.name for path in made.parent.iterdir()] == ["made"]
