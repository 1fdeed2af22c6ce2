"""Memory stays bounded while the collection grows, and a kill at any moment costs nothing but time."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.index_rate import generated_documents
from lexigraft.core.types import Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index

pytestmark = pytest.mark.integration


def peak_mib(collection: Path, out: Path) -> float:
    """Peak memory of indexing in a process of its own."""
    command = [sys.executable, "-m", "lexigraft", "index", "--data", str(collection), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--set", "index.memory_mib=4"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return usage.ru_maxrss / 1024


def test_memory_is_bounded(tmp_path):
    """From 50,000 documents, which fill the buffers, to 150,000 the corpus grows by over 90 MiB; the peak by the few
    bytes that each document costs (its id, length and row pointer), because the vocabulary stays as it is."""
    peaks, sizes = {}, {}
    for n_documents in (50_000, 150_000):
        collection = tmp_path / f"docs{n_documents}"
        # Without a number of its own in every document, the vocabulary stops growing.
        documents = (
            d._replace(text=d.text.rpartition(" ")[0]) for d in generated_documents(n_documents, n_words=20_000)
        )
        write_collection(collection, documents)
        sizes[n_documents] = (collection / "corpus.jsonl").stat().st_size / 2**20
        peaks[n_documents] = peak_mib(collection, tmp_path / f"index{n_documents}")
        assert open_index(tmp_path / f"index{n_documents}").n_documents == n_documents
    assert sizes[150_000] - sizes[50_000] > 90
    assert peaks[150_000] - peaks[50_000] < 30, (peaks, sizes)


def test_killed_at_random_moments(tmp_path):
    """Kill after kill, whatever stands at an artifact's place is whole, and the run ends as an undisturbed one."""
    collection = tmp_path / "docs"
    documents = list(generated_documents(4000))
    queries = [Query(f"q{n}", " ".join(documents[n].text.split()[:5])) for n in range(200)]
    write_collection(collection, documents, queries, {"test": [Qrel(f"q{n}", f"doc{n}", 1) for n in range(200)]})

    def command(run: Path) -> list[str]:
        return [sys.executable, "-m", "lexigraft", "run", "--data", str(collection), "--out", str(run), "--json"]

    started = time.perf_counter()
    undisturbed = subprocess.run(command(tmp_path / "one"), capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    rng, kills = random.Random(0), 0
    for _ in range(25):
        everything = [*command(tmp_path / "two"), "--from", "collect"]
        process = subprocess.Popen(everything, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            process.communicate(timeout=rng.uniform(0.5, 0.95 * seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        for index in (tmp_path / "two").glob("judged/*/index"):
            assert open_index(index).n_documents == 4000
    assert kills >= 10
    final = subprocess.run(command(tmp_path / "two"), capture_output=True, text=True, check=True)
    rows = [
        [{key: value for key, value in row.items() if not key.startswith("ms_")} for row in json.loads(output)["rows"]]
        for output in (undisturbed.stdout, final.stdout)
    ]
    assert rows[0] == rows[1]
    for file in (tmp_path / "one").glob("judged/*/index/*"):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()
