import json
import shutil
from pathlib import Path

import pytest

from lexigraft.core import artifact
from lexigraft.core.artifact import Manifest, open_artifact, read_manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.core.pinned import read_pinned
from tests.killed import killed_before_step

WANTED = Manifest("thing", 3, {"a": 1}, {"parent": "ff"}, seed=7)


def write(path, text="hello", manifest=WANTED):
    with write_artifact(path, manifest) as folder:
        (folder / "data.txt").write_text(text)


def test_round_trip(tmp_path):
    write(tmp_path / "made")
    found = open_artifact(tmp_path / "made", "thing", 3)
    assert found.same_recipe(WANTED)
    assert found.files["data.txt"]["bytes"] == 5


def test_same_content_same_bytes(tmp_path):
    write(tmp_path / "one")
    write(tmp_path / "two")
    assert (tmp_path / "one/manifest.json").read_bytes() == (tmp_path / "two/manifest.json").read_bytes()


def test_fingerprint_follows_content_and_settings(tmp_path):
    write(tmp_path / "one")
    write(tmp_path / "two", text="other")
    write(tmp_path / "three", manifest=Manifest("thing", 3, {"a": 2}, {"parent": "ff"}, seed=7))
    assert len({read_manifest(tmp_path / name).fingerprint for name in ("one", "two", "three")}) == 3


def test_an_error_leaves_the_old_one(tmp_path):
    write(tmp_path / "made", "old")
    with pytest.raises(RuntimeError), write_artifact(tmp_path / "made", WANTED) as folder:
        (folder / "data.txt").write_text("half")
        raise RuntimeError
    assert (tmp_path / "made/data.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_leftovers_of_a_killed_writer_are_removed(tmp_path):
    (tmp_path / "made.draft-1").mkdir()
    (tmp_path / "made.old-1").mkdir()
    write(tmp_path / "made")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda made: (made / "data.txt").write_text("hell"), "4 bytes instead of 5"),
        (lambda made: (made / "data.txt").write_text("hellO"), "does not match its checksum"),
        (lambda made: (made / "data.txt").unlink(), "is missing"),
        (lambda made: (made / "manifest.json").write_text("{"), "no readable manifest"),
        (lambda made: (made / "manifest.json").write_text("[1]"), "no readable manifest"),
        (lambda made: (made / "manifest.json").unlink(), "no readable manifest"),
    ],
)
def test_damage_is_named(tmp_path, damage, says):
    write(tmp_path / "made")
    damage(tmp_path / "made")
    with pytest.raises(ArtifactError, match=says):
        open_artifact(tmp_path / "made", "thing", 3)


def test_other_kind_other_format_and_nothing(tmp_path):
    write(tmp_path / "made")
    with pytest.raises(ArtifactError, match="holds a thing, not a house"):
        open_artifact(tmp_path / "made", "house", 3)
    with pytest.raises(ArtifactError, match="format 3, this version of Lexigraft reads 4"):
        open_artifact(tmp_path / "made", "thing", 4)
    with pytest.raises(ArtifactError, match="there is no thing"):
        open_artifact(tmp_path / "absent", "thing", 3)


def test_manifest_holds_no_time_or_machine(tmp_path):
    write(tmp_path / "made")
    keys = set(json.loads((tmp_path / "made/manifest.json").read_text()))
    own = {"kind", "format_version", "config", "parents", "seed", "code_version", "notes", "files"}
    assert keys == {*own, "checksum"}


def test_what_is_somebody_elses_is_never_removed(tmp_path):
    """Folders beside the target that only look like ours, and a target with another program's manifest.json."""
    for name in ("a.old-2019", "a.draft-mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "precious").touch()
    with write_artifact(tmp_path / "a", Manifest("k", 1, {})) as folder:
        (folder / "x").touch()
    assert (tmp_path / "a.old-2019/precious").exists()
    assert (tmp_path / "a.draft-mine/precious").exists()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["manifest.json", "x"]
    (tmp_path / "site").mkdir()
    (tmp_path / "site/manifest.json").write_text('{"name": "my web app"}')
    with (
        pytest.raises(ArtifactError, match="not a Lexigraft artifact"),
        write_artifact(tmp_path / "site", Manifest("k", 1, {})),
    ):
        pass


def test_what_a_killed_writer_left_is_removed(tmp_path):
    half = write_artifact(tmp_path / "a", Manifest("k", 1, {}))
    draft = half.__enter__()
    killed = draft.rename(tmp_path / "a.draft-999999")
    with write_artifact(tmp_path / "a", Manifest("k", 1, {})):
        pass
    assert not killed.exists()


def test_what_a_swap_had_moved_aside_comes_back(tmp_path):
    """A kill between the two renames leaves nothing at the path; a failing writer must not lose what was there."""
    write(tmp_path / "made", "old")
    (tmp_path / "made").rename(tmp_path / "made.old-999999")
    with pytest.raises(RuntimeError), write_artifact(tmp_path / "made", WANTED):
        raise RuntimeError
    assert open_artifact(tmp_path / "made", "thing", 3) and (tmp_path / "made/data.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_what_was_being_removed_does_not_come_back(tmp_path):
    write(tmp_path / "made", "old")
    (tmp_path / "made/data.txt").unlink()
    (tmp_path / "made").rename(tmp_path / "made.old-999999")
    with pytest.raises(RuntimeError), write_artifact(tmp_path / "made", WANTED):
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_a_copy_with_a_name_of_its_own_is_never_removed(tmp_path):
    write(tmp_path / "idx")
    shutil.copytree(tmp_path / "idx", tmp_path / "idx.old-good")
    write(tmp_path / "idx", "other")
    assert (tmp_path / "idx.old-good/data.txt").read_text() == "hello"


def test_an_interrupt_in_the_swap_leaves_what_was_there(tmp_path, monkeypatch):
    """On a file system without an exchange of names: with it the swap is one step."""
    write(tmp_path / "made")
    monkeypatch.setattr(artifact, "exchange", lambda one, other: False)
    rename = Path.rename

    def stop_at_the_second(self, target):
        if ".draft-" in self.name:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "made", "other")
    assert (tmp_path / "made/data.txt").read_text() == "hello"
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("exchanges", [True, False], ids=["one step", "two renames"])
def test_a_kill_at_any_step_of_a_swap_leaves_a_whole_artifact(tmp_path, monkeypatch, exchanges):
    """Readers find it before any next writer comes, who removes what else is left."""
    if not exchanges:
        monkeypatch.setattr(artifact, "exchange", lambda one, other: False)
    found, number, was_killed = [], 0, True
    while was_killed:
        made = tmp_path / str(number) / "made"
        write(made, "old")
        was_killed = killed_before_step(number, lambda: write(made, "new"))  # noqa: B023
        assert open_artifact(made, "thing", 3)
        found.append(read_pinned(made, lambda folder: (folder / "data.txt").read_text()))
        with pytest.raises(RuntimeError), write_artifact(made, WANTED):
            raise RuntimeError
        assert [path.name for path in made.parent.iterdir()] == ["made"]
        assert (made / "data.txt").read_text() == found[-1]
        number += 1
    assert found == sorted(found, reverse=True), "first the old one, then the new one"
    assert {"old", "new"} == set(found)
    assert found.count("new") > 2, "killed after the swap, too"
