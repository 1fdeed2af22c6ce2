import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lexigraft.core.settings import DataSettings
from lexigraft.data import judged_packages as named
from lexigraft.data.pydocs import source_files
from lexigraft.stages.collect import _say_what_is_missing, source_description

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def is_wanted(requirement):
    """Whether it is installed here, and not on some platforms only: that would not be the same everywhere."""
    on_some = re.match("ir-measures|triton|nvidia-|cuda-|colorama", canonical(requirement.name))
    later = canonical(requirement.name) in named.CAME_LATER
    return not on_some and not later and (requirement.marker is None or requirement.marker.evaluate())


def test_the_named_packages_are_what_the_extra_train_brings():
    project = tomllib.loads(PROJECT.read_text())["project"]
    todo = [*project["dependencies"], *project["optional-dependencies"]["train"]]
    found = set()
    while todo:
        requirement = Requirement(todo.pop())
        if is_wanted(requirement) and canonical(requirement.name) not in found:
            found.add(canonical(requirement.name))
            todo += importlib.metadata.requires(requirement.name) or []
    assert found == set(named.JUDGED_DISTRIBUTIONS)


def test_every_named_package_has_a_version_that_is_pinned():
    pinned = {canonical(line.partition("==")[0]) for line in (PROJECT.parent / "constraints.txt").read_text().split()}
    assert set(named.JUDGED_DISTRIBUTIONS) <= pinned


@pytest.fixture
def installed_beside(tmp_path, monkeypatch):
    """A distribution that nobody named, first on the path, with a module inside a named package and copies of some."""
    texts = {"beside.py": "Beside.", "json/beside.py": "Inside another.", "rich/text.py": "A copy."}
    for file, text in texts.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(f'"""{text}"""')
    info = tmp_path / "beside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: beside\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in texts))
    built = tmp_path / "src" / "built.egg-info"  # what a build leaves in a checkout: files named from its root
    built.mkdir(parents=True)
    (built / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: beside\nVersion: 1.0\n")
    (built / "SOURCES.txt").write_text("src/built/module.py\n")
    return lambda: monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "src"), *sys.path])


@pytest.mark.integration  # it takes long
def test_what_else_is_installed_changes_only_what_is_searched(installed_beside):
    before, described = source_files(), source_description("pydocs", DataSettings())
    installed_beside()
    after, described_after = source_files(), source_description("pydocs", DataSettings())
    assert after.judged == before.judged
    added = {file.module for file in after.others} - {file.module for file in before.others}
    assert added == {"beside", "json.beside"}
    assert described_after["judged"] == described["judged"]
    assert described_after["installed"] == {**described["installed"], "beside": "1.0"}


@pytest.mark.integration  # it takes long
def test_the_judged_view_has_the_standard_library_and_named_packages_only():
    files = source_files()
    packages = {file.package for file in files.judged}
    assert {"json", "numpy", "torch", "transformers"} <= packages
    assert not packages & {"pip", "pytest", "_pytest", "hypothesis", "sklearn", "lexigraft"}
    assert "_pytest" in {file.package for file in files.others}
    assert not {file.module for file in files.judged} & {file.module for file in files.others}


def test_packages_that_are_missing_are_named(monkeypatch, caplog):
    monkeypatch.setattr(named, "JUDGED_DISTRIBUTIONS", ("rich", "no-such-package"))
    found = named.judged_packages()
    assert (list(found.versions), found.missing) == (["python", "rich"], ["no-such-package"])
    assert list(source_description("pydocs", DataSettings())["judged"]) == ["python", "rich"]
    _say_what_is_missing(found)
    assert "1 of the 2 packages" in caplog.text
    assert "(no-such-package)" in caplog.text


def test_packages_that_a_user_names_are_both_views():
    settings = DataSettings(packages=("hypothesis",))
    files = source_files(settings.packages)
    assert {file.package for file in files.judged} == {"hypothesis"}
    assert not files.others
    assert "judged" not in source_description("pydocs", settings)
