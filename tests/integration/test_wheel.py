"""The wheel, installed in another environment and used outside the checkout: nothing of it may be missing there."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from lexigraft.data.write import write_collection
from tests.conftest import DOCUMENTS, QRELS, QUERIES

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
FROM_TEXTS = """
import json, lexigraft as lg
hits = lg.Retriever.from_texts(["a cat on a mat", "two dogs"], ids=["cat", "dog"]).search("cats")
print(json.dumps({"home": lg.__file__, "found": [hit.doc_id for hit in hits]}))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with the wheel, which takes its dependencies from that of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = folder / "checkout"  # a build writes beside its sources, where other tests look
    checkout.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = [
        "pip",
        "wheel",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
        checkout,
    ]
    subprocess.run([sys.executable, "-m", *map(str, build)], check=True)
    venv.create(folder / "env", with_pip=False)
    home = folder / "env/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # A line of a path file is searched, but path files there are not read: the checkout, installed by one, is not seen.
    (home / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = folder.glob("lexigraft-*.whl")
    install = ["pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", home, wheel]
    subprocess.run([sys.executable, "-m", *map(str, install)], check=True)
    return folder / "env/bin/python"


def call(python, folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_it_works_away_from_the_checkout(python, tmp_path):
    found = json.loads(call(python, tmp_path, "-c", FROM_TEXTS))
    assert found["found"] == ["cat"]
    assert Path(found["home"]).is_relative_to(python.parents[1])
    assert "Start here" in call(python, tmp_path, "-m", "lexigraft", "--help")
    assert "esplade" in call(python, tmp_path, "-m", "lexigraft", "recipe", "list")
    write_collection(tmp_path / "tiny", DOCUMENTS, QUERIES, QRELS)
    run = ("-m", "lexigraft", "run", "--data", "tiny", "--out", "run", "--set", "run.systems=bm25", "--json")
    assert json.loads(call(python, tmp_path, *run))["rows"][0]["system"] == "bm25"
    hint = "from lexigraft.core.installing import install_extra; print(install_extra('train'))"
    assert call(python, tmp_path, "-c", hint).strip() == "pip install 'lexigraft[train]'"


def test_it_carries_the_page(python, tmp_path):
    code = "import lexigraft.serve, pathlib; print(pathlib.Path(lexigraft.serve.__file__).parent / 'page')"
    carried = Path(call(python, tmp_path, "-c", code).strip())
    here = ROOT / "src/lexigraft/serve/page"
    assert carried.is_relative_to(python.parents[1])
    assert {path.name: path.read_bytes() for path in carried.iterdir()} == {
        path.name: path.read_bytes() for path in here.iterdir()
    }
