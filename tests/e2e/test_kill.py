"""SIGKILL as soon as a stage begins to write: the next call continues, and ends as if nothing had happened."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.write import write_collection
from tests.given_vectors import write_vectors_of_words

pytestmark = pytest.mark.integration  # it takes long
N_DOCUMENTS = 2500
STAGES = (
    "bm25/index", "collection", "bm25/vectors", "bm25/evaluation", "grafted/documents", "grafted/vectors", "report",
)  # fmt: skip
OWN = ("run.json", "source.json", "settings.json", "timings.json", "report.json", "report.md", "report.png")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(5000)]
    texts = [" ".join(words[i] for i in (rng.zipf(1.3, 60) - 1) % 5000) for _ in range(N_DOCUMENTS)]
    folder = tmp_path_factory.mktemp("data") / "zipf"
    documents = [Document(f"d{number}", "", text) for number, text in enumerate(texts)]
    queries = [Query(f"q{number}", " ".join(texts[number].split()[:6])) for number in range(300)]
    write_collection(
        folder, documents, queries, {"test": [Qrel(f"q{number}", f"d{number}", 1) for number in range(300)]}
    )
    write_vectors_of_words(documents, vectors_of(folder))
    return folder


def vectors_of(collection):
    return collection.with_name("vectors.npz")


def start(collection, run):
    command = [sys.executable, "-m", "lexigraft", "run", "--data", str(collection), "--out", str(run), "--json"]
    command += ["--set", f"grafted.vectors={vectors_of(collection)}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def without_times(report):
    rows = [{key: value for key, value in row.items() if not key.startswith("ms_")} for row in report["rows"]]
    return {"collection": report["collection"], "rows": rows}


def index_bytes(run):
    files = sorted(path for path in run.rglob("*") if path.is_file() and path.parent.name in ("vectors", "index"))
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def undisturbed(collection, tmp_path_factory):
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    output, _ = start(collection, run).communicate()
    return without_times(json.loads(output)), index_bytes(run)


@pytest.mark.parametrize("stage", STAGES)
def test_killed_in(stage, collection, undisturbed, tmp_path):
    run = tmp_path / "run"
    process = start(collection, run)
    first_sign = {"collection": "collection*", "report": ".report.png.*"}.get(stage, f"judged/{stage}*.draft-*")
    while process.poll() is None and not list(run.glob(first_sign)):
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    process.stderr.close()
    output, errors = start(collection, run).communicate()
    assert (without_times(json.loads(output)), index_bytes(run)) == undisturbed, errors
    assert not list(run.rglob("*.draft-*")) and not [aside for name in OWN for aside in run.glob(f".{name}.*")]
