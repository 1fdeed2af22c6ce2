"""A process that asks one question by words loads nothing that takes longer than its answer; one that asks many loads
kernels, which the building of the index compiled."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from lexigraft import Retriever
from lexigraft.core.artifact import hash_file
from lexigraft.core.known_checksums import LARGE as LARGE_FILE
from lexigraft.core.sealed_json import write_sealed
from tests.conftest import DOCUMENTS, write_collection

LARGE = ("torch", "transformers", "scipy", "matplotlib", "numba", "pydantic")
SEARCH = f"""
import sys
from lexigraft.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print("imported:", [name for name in {LARGE} if name in sys.modules], file=sys.stderr)
"""
BLIND = """
from lexigraft.cli.app import main
from lexigraft.core import known_checksums

known_checksums.SETTLED = 0
known_checksums._facts = lambda file: (file.st_size,)
main()
"""
COMPILED = """
import sys
from lexigraft.core.compiled import load_kernels
from lexigraft.retrieve.retriever import Retriever
from numba.core.caching import FunctionCache

usual = FunctionCache.load_overload
missed = []

def load(cache, signature, context):
    found = usual(cache, signature, context)
    if found is None:
        missed.append(cache._py_func.__name__)
    return found

FunctionCache.load_overload = load
load_kernels()
with Retriever.open(sys.argv[1]) as retriever:
    for k in (2, 1000):
        assert retriever.search("remove items", k=k)
    assert retriever.answer("remove items").hits
print(*missed)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_collection(folder, DOCUMENTS)
    return folder


def make_indexes(data, folder, **environment):
    """A plain index and a live one with a deleted document, each made by a process of its own."""
    for call in (
        ["--data", data, "--out", folder / "plain"],
        ["add", folder / "live", "--data", data],
        ["delete", folder / "live", "d2"],
    ):
        command = [sys.executable, "-m", "lexigraft", "index", *map(str, call)]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def indexes(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cold")
    make_indexes(data, folder)
    return folder


@pytest.mark.parametrize("name", ["plain", "live"])
@pytest.mark.parametrize("shown", [["--json"], []])
def test_one_question_loads_nothing_large(indexes, name, shown):
    call = [sys.executable, "-c", SEARCH, "search", "--index", str(indexes / name), "remove items", *shown]
    answer = subprocess.run(call, capture_output=True, text=True, check=True)
    assert "imported: []" in answer.stderr
    with Retriever.open(indexes / name) as retriever:
        expected = retriever.search("remove items")
    assert expected
    if shown:
        hits = json.loads(answer.stdout)["hits"]
        assert [(hit["doc_id"], hit["score"]) for hit in hits] == [(hit.doc_id, hit.score) for hit in expected]


def test_verify_finds_what_the_file_system_does_not_know(indexes, tmp_path, monkeypatch):
    """A large file is read once; one whose bytes changed although nothing says so is found by --verify alone."""
    index = tmp_path / "index"
    shutil.copytree(indexes / "plain", index)
    (index / "extra").write_bytes(b"a" * LARGE_FILE)
    manifest = json.loads((index / "manifest.json").read_text())
    manifest["files"]["extra"] = {"bytes": LARGE_FILE, "sha256": hash_file(index / "extra")}
    write_sealed(index / "manifest.json", manifest)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    del environment["LEXIGRAFT_CHECKSUMS"]

    def search(*options):
        call = [sys.executable, "-c", BLIND, "search", "--index", str(index), "remove items", *options]
        return subprocess.run(call, capture_output=True, text=True, check=False, env=environment)

    assert search().returncode == 0
    (index / "extra").write_bytes(b"b" * LARGE_FILE)
    assert search().returncode == 0, "nothing says that it changed"
    found = search("--verify")
    assert found.returncode == 2
    assert "does not match its checksum" in found.stderr


@pytest.mark.integration  # compiles everything
def test_the_first_search_after_an_index_was_built_compiles_nothing(data, tmp_path):
    make_indexes(data, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "numba"))
    for name in ("plain", "live"):
        call = [sys.executable, "-c", COMPILED, str(tmp_path / name)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
        done = subprocess.run(call, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.split() == []
