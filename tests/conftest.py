"""Small collections that tests make themselves, and the command line called in-process."""

import atexit
import functools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import typer

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["LEXIGRAFT_CHECKSUMS"] = "always"  # nothing that tests read is remembered in the user's home
os.environ["LEXIGRAFT_VALIDATE"] = "always"  # whatever tests make must pass
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # asked for when triton is imported: its kernels run without a GPU
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="lexigraft-state-")
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from lexigraft.cli.app import main
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.compiled import load_kernels
from lexigraft.core.types import Document, Qrel, Query, SparseMatrix, Vocabulary
from lexigraft.data.write import write_collection
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.vectors.store import DocumentVectors
from tests.kernels import compile_together

atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Kernels compile on first use: no example has a deadline. The same examples every time; with LEXIGRAFT_EXAMPLES=fresh
# (`make nightly`) others each time, more of them, after those that failed before, which are kept.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
settings.register_profile(
    "fresh", settings.get_profile("same"), derandomize=False, max_examples=300, print_blob=True,
    database=DirectoryBasedExampleDatabase(Path(__file__).parent / "failures"),
)  # fmt: skip
settings.load_profile(os.environ.get("LEXIGRAFT_EXAMPLES", "same"))

# The longest first, or one worker has them left when the other has nothing to do.
LONGEST = ("tests/integration/test_quickstart.py", "tests/integration/test_collections.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(file) if (file := item.location[0]) in LONGEST else len(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """What a test shows or logs may hold lone surrogates on purpose, which no worker can send to the others."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


DOCUMENTS = [
    Document("d1", "Ordered sets", "Remove duplicates from a list but keep the order of its items."),
    Document("d2", "Sorting", "Sort a list in place; the sort is stable and keeps equal items in order."),
    Document("d3", "", "Parse a date string and return a datetime object."),
    Document("d4", "Dates", "Format dates and times as strings."),
    Document("d5", "Graphs", "Shortest paths in a weighted graph, by Dijkstra's algorithm."),
    Document("d6", "한국어", "중복을 제거하고 순서를 유지합니다."),
]
QUERIES = [
    Query("q1", "remove duplicate items keeping order"),
    Query("q2", "parsing dates"),
    Query("q3", "shortest path in graphs"),
    Query("q4", "순서를 유지합니다"),
]
QRELS = {
    "train": [Qrel("q4", "d6", 1)],
    "test": [Qrel("q1", "d1", 2), Qrel("q1", "d2", 1), Qrel("q2", "d3", 1), Qrel("q2", "d4", 1), Qrel("q3", "d5", 1)],
}


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """A tiny run syncs 127 times, and no test can see what a loss of power leaves. A wrong descriptor still fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: os.fstat(descriptor) and None)
        yield


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Kernels do what numpy would do in a process that ends soon; tests of that call it by its name."""
    load_kernels()
    if "PYTEST_XDIST_WORKER" in os.environ:
        compile_together(tmp_path_factory)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    write_collection(folder, DOCUMENTS, QUERIES, QRELS)
    return folder


def sparse_matrix(rows: Sequence[dict[int, float]], n_terms: int, row_ids: Sequence[str] | None = None) -> SparseMatrix:
    """Rows given as {term id: weight}."""
    return SparseMatrix(
        row_ids=row_ids or [f"d{number}" for number in range(len(rows))],
        indptr=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        term_ids=np.array([term for row in rows for term in sorted(row)], np.int32),
        weights=np.array([row[term] for row in rows for term in sorted(row)], np.float32),
        n_terms=n_terms,
        vocab_fingerprint=vocabulary_of(n_terms).fingerprint,
    )


def vocabulary_of(n_terms: int) -> Vocabulary:
    return Vocabulary([f"t{number}" for number in range(n_terms)])


def index_of(matrix: SparseMatrix, folder: Path, **options) -> index_store.Index:
    """Build and open the index of a matrix."""
    titles = [f"title of {row_id}" for row_id in matrix.row_ids]
    vectors = DocumentVectors(matrix, titles, vocabulary_of(matrix.n_terms), {"kind": "none"}, "")
    with write_artifact(folder, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, **options)
    return index_store.open_index(folder)


@pytest.fixture(scope="module")
def one_thread():
    """torch computes on one thread, so that the same bytes come out."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Output(NamedTuple):
    status: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


# The tree of commands, which a process of its own makes once: 45 ms, as much as many a call takes.
tree_of_commands = functools.cache(typer.main.get_command)


@pytest.fixture
def lexigraft(monkeypatch, capsys) -> Callable[..., Output]:
    """`lexigraft("search", "--run", path, ...)` as the command line would."""
    monkeypatch.setattr(typer.main, "get_command", tree_of_commands)

    def call(*arguments) -> Output:
        monkeypatch.setattr(sys, "argv", ["lexigraft", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
        captured = capsys.readouterr()
        return Output(status, captured.out, captured.err)

    return call
