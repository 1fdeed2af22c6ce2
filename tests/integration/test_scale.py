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
from bench.vocab_rate import memory
from lexigraft.core.types import Qrel, Query
from lexigraft.data.write import write_collection
from lexigraft.index.store import open_index
from tests.given_vectors import write_vectors_of_words

pytestmark = pytest.mark.integration
KILLS = 12


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

    vectors = write_vectors_of_words(documents, tmp_path / "vectors.npz")

    def command(run: Path) -> list[str]:
        call = [sys.executable, "-m", "lexigraft", "run", "--data", str(collection), "--out", str(run), "--json"]
        return [*call, "--set", vectors]

    started = time.perf_counter()
    undisturbed = subprocess.run(command(tmp_path / "one"), capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    rng, kills = random.Random(0), 0
    for _ in range(25):
        if kills == KILLS:
            break
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
    assert kills == KILLS
    final = subprocess.run(command(tmp_path / "two"), capture_output=True, text=True, check=True)
    rows = [
        [{key: value for key, value in row.items() if not key.startswith("ms_")} for row in json.loads(output)["rows"]]
        for output in (undisturbed.stdout, final.stdout)
    ]
    assert rows[0] == rows[1]
    for file in (tmp_path / "one").glob("judged/*/index/*"):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()


def test_counting_words_takes_the_same_memory_for_a_hundred_times_the_text(tmp_path):
    """From 3,000 to 300,000 documents, reading and counting grows only by the 16 to 32 bytes an id that duplicates
    are found by. (`python -m bench.vocab_rate --memory` goes to 1,000,000.)"""
    found = memory(tmp_path, _small(tmp_path), (3_000, 30_000, 300_000))["peak_memory_of_counting"]
    assert found[300_000]["megabytes"] > 90 * found[3_000]["megabytes"]
    assert found[300_000]["peak_MiB"] - found[30_000]["peak_MiB"] < 20, found  # 270,000 documents and 190 MB more


def test_a_corpus_ten_times_larger_than_memory_is_read_counted_and_encoded(tmp_path):
    """What it takes above the same work on a tiny collection stays below a tenth of the corpus."""
    collection = tmp_path / "docs"
    generated = generated_documents(30_000, n_words=20_000)
    # Without a number of its own in every document, the vocabulary stops growing, as that of a language does.
    documents = (d._replace(text=" ".join([d.text.rpartition(" ")[0]] * 40)) for d in generated)
    write_collection(collection, documents)
    megabytes = (collection / "corpus.jsonl").stat().st_size / 2**20
    script = tmp_path / "work.py"
    script.write_text(BOUNDED_WORK)
    idle, peak = (_peak_of_script(script, path, tmp_path) for path in (_small(tmp_path), str(collection)))
    assert megabytes > 1000
    assert peak - idle < megabytes / 10, (megabytes, idle, peak)


BOUNDED_WORK = """
import sys
from pathlib import Path

if __name__ == "__main__":
    from lexigraft.core.settings import DataSettings, VocabSettings
    from lexigraft.core.artifact import Manifest, write_artifact
    from lexigraft.data.sources import open_source
    from lexigraft.data.stats import collection_stats
    from lexigraft.model import encoder as store
    from lexigraft.model import scratch
    from lexigraft.model.backbone import load_backbone
    from lexigraft.learn.vocabulary import learn_vocabulary
    from lexigraft.stages.encode_model import encode_with_trained_model
    from lexigraft.learn.new_model import new_encoder
    from lexigraft.core.settings import ModelSettings
    from lexigraft.core.settings import BackboneSettings
    from lexigraft.vocab import lexicon
    from dataclasses import replace

    source, out = sys.argv[1], Path(sys.argv[2])
    collection = open_source(source)
    collection_stats(collection)
    few = [document.contents[:2000] for document, _ in zip(collection.documents(), range(200))]
    (out / "backbone").mkdir()
    scratch.make_backbone(few, 1, 0, out / "backbone", BackboneSettings(pieces=500, width=32))
    with write_artifact(out / "vocabulary", Manifest(lexicon.KIND, lexicon.FORMAT_VERSION, {})) as folder:
        learn_vocabulary(collection, collection, str(out / "backbone"), VocabSettings(size=2000), folder)
    backbone, words = load_backbone(str(out / "backbone")), lexicon.open_lexicon(out / "vocabulary")
    model = new_encoder(backbone, words, ModelSettings(), 0)
    model.meta = replace(model.meta, query_length=8, document_length=8, query_terms=20, document_terms=20)
    with write_artifact(out / "model", Manifest(store.KIND, store.FORMAT_VERSION, {})) as folder:
        store.save_encoder(model, folder)
    with write_artifact(out / "vectors", Manifest("vectors", 1, {})) as folder:
        encode_with_trained_model(collection, DataSettings(), out / "model", folder, out / "vectors")
"""


def _peak_of_script(script: Path, source: str, scratch: Path) -> float:
    out = scratch / f"out{hash(source) % 1000}"
    out.mkdir()
    process = subprocess.Popen([sys.executable, str(script), source, str(out)])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return usage.ru_maxrss / 1024


def _small(folder: Path) -> str:
    write_collection(folder / "small", generated_documents(200, seed=1))
    return str(folder / "small")
