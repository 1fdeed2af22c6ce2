"""What is said of a missing extra installs it, from a checkout and from an installed package."""

import shlex
import tomllib
from pathlib import Path

import pytest

from lexigraft.core.installing import PACKAGE, checkout_of, install_extra, install_pinned

ROOT = Path(__file__).parents[3]


def installed(folder):
    package = folder / "lib/python3.11/site-packages/lexigraft"
    package.mkdir(parents=True)
    return package


def checkout(folder):
    package = folder / "src/lexigraft"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("")
    return package


def test_of_an_installed_package_the_name(tmp_path):
    package = installed(tmp_path)
    assert checkout_of(package) is None
    assert install_extra("train", package) == install_pinned("train", package) == "pip install 'lexigraft[train]'"


def test_of_a_checkout_its_path(tmp_path):
    package = checkout(tmp_path / "my work")
    assert checkout_of(package) == tmp_path / "my work"
    command = shlex.split(install_extra("train", package))
    assert command == ["pip", "install", "-e", f"{tmp_path / 'my work'}[train]"]
    pinned = shlex.split(install_pinned("train", package))
    assert pinned == ["pip", "install", "-c", str(tmp_path / "my work/constraints.txt"), *command[2:]]


def test_a_folder_src_without_a_project_is_no_checkout(tmp_path):
    (tmp_path / "src/lexigraft").mkdir(parents=True)
    assert checkout_of(tmp_path / "src/lexigraft") is None


@pytest.mark.parametrize("extra", ["train", "clicks", "parquet", "ir-datasets", "tensorboard"])
def test_these_tests_run_from_a_checkout_which_has_the_extras(extra):
    assert checkout_of(PACKAGE) == ROOT
    assert install_extra(extra) == f"pip install -e '{ROOT}[{extra}]'"
    assert (ROOT / "constraints.txt").is_file()
    assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
