"""Whatever a writer does to an index that is being replaced, readers answer: beside it, and after its death."""

import shutil
from functools import partial

import pytest

from lexigraft.core import artifact
from tests.fuzz.races import VERSIONS, answer_of, is_clean, prepare, race, replace
from tests.killed import killed_before_step


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("races")
    prepare(folder)
    return folder


@pytest.mark.integration
@pytest.mark.parametrize("exchanges", [True, False], ids=["one step", "two renames"])
def test_a_reader_answers_after_a_kill_at_every_step_of_a_swap(prepared, tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(artifact, "exchange", lambda one, other: False, raising=False)
    right = {name: answer_of(prepared / name) for name in ("one", "two")}
    found, number, was_killed = [], 0, True
    while was_killed:
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "two").symlink_to(prepared / "two")
        shutil.copytree(prepared / "live", folder / "live")
        was_killed = killed_before_step(number, partial(replace, folder, "two", "swap"))
        answer = answer_of(folder / "live")  # before any next writer
        found.append(next(name for name, known in right.items() if known == answer))
        replace(folder, "two", "swap")
        assert answer_of(folder / "live") == right["two"]
        assert [path.name for path in (folder / "live").iterdir()] == ["index"], "nothing is left"
        number += 1
    assert found == sorted(found), "first the former one, then the new one"
    assert found[0] == "one"
    assert found.count("two") > 2, "killed after the swap, too"


@pytest.mark.integration
@pytest.mark.parametrize(("how", "rebuilds"), [("build", 20), ("swap", 40), ("run", 5)])
def test_every_answer_is_of_one_version_alone(tmp_path, how, rebuilds):
    told = race(tmp_path, 150, rebuilds, how)
    assert is_clean(told), told
    assert all(told[name] for name in VERSIONS), "each was seen"
