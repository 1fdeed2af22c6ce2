"""Every integration says in one line how its framework is installed."""

import importlib
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from lexigraft.core.errors import MissingExtraError

ROOT = Path(__file__).parents[3]
# The file, the package that is not there, and the extra that brings it.
INTEGRATIONS = [
    ("pyterrier", "pyterrier", "pyterrier"),
    ("pyterrier", "pandas", "pyterrier"),
    ("langchain", "langchain_core", "langchain"),
    ("langchain_qdrant", "langchain_qdrant", "langchain-qdrant"),
    ("haystack", "haystack", "haystack"),
    ("mteb", "mteb", "mteb"),
    ("mteb_task", "datasets", "mteb"),
]


@pytest.mark.parametrize(("name", "package", "extra"), INTEGRATIONS)
def test_a_framework_that_is_not_installed(name, package, extra, monkeypatch):
    module = f"lexigraft.integrations.{name}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for loaded in [one for one in sys.modules if one.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as raised:
        importlib.import_module(module)
    said = str(raised.value)
    assert said.startswith(f"{module} needs the package '") and "', which is not installed; pip install " in said
    assert f"[{extra}]" in said and "\n" not in said
    # Where another one is absent here as well, it may be the first that is missed.
    missed = said.split("'")[1]
    assert missed == package or importlib.util.find_spec(missed) is None
    assert isinstance(raised.value, ImportError)


def test_every_extra_that_is_named_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {extra for _, _, extra in INTEGRATIONS} <= project["optional-dependencies"].keys()
