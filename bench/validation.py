"""What it costs to look through an index or vectors that were made elsewhere, beside hashing the same files.

    python -m bench.validation [--documents 1000000] [--terms 60] [--runs 3] [--out FILE.json]

Makes vectors of Zipfian terms and their index, and measures in this process, with kernels loaded and files in memory:
hashing every file; the look through (index/validate.py) and its pass over the lists alone; and opening the index with
checksums remembered when it is known, as every search does, and when it is not.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core import made_here
from lexigraft.core.arrays import ArrayWriter, write_strings
from lexigraft.core.artifact import Manifest, hash_file, write_artifact
from lexigraft.core.compiled import load_kernels
from lexigraft.core.settings import IndexSettings
from lexigraft.core.types import Vocabulary
from lexigraft.index import store as index_store
from lexigraft.index.build import build_index
from lexigraft.index.validate import validate_index
from lexigraft.index.validate_lists import look_through
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.validate import validate_matrix

N_TERMS, AT_ONCE = 100_000, 50_000


def write_vectors(folder: Path, n_documents: int, terms_each: int) -> None:
    """Vectors of about so many terms a document, frequent ones in most documents."""
    rng = np.random.default_rng(0)
    chances = 1 / (np.arange(N_TERMS) + 10.0)
    cumulative = np.cumsum(chances / chances.sum())
    terms = [f"term{number}" for number in range(N_TERMS)]
    row_ids = [f"document-{number}" for number in range(n_documents)]
    with write_artifact(folder, Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, {})) as draft:
        with (
            ArrayWriter(draft / "indptr.npy", np.int64) as indptr,
            ArrayWriter(draft / "term_ids.npy", np.int32) as term_ids,
            ArrayWriter(draft / "weights.npy", np.float32) as weights,
        ):
            indptr.append(np.zeros(1, np.int64))
            for start in range(0, n_documents, AT_ONCE):
                n_rows = min(AT_ONCE, n_documents - start)
                drawn = np.searchsorted(cumulative, rng.random((n_rows, terms_each * 21 // 20)))
                keys = np.unique(np.arange(n_rows)[:, None] * N_TERMS + np.minimum(drawn, N_TERMS - 1))
                counts = np.bincount(keys // N_TERMS, minlength=n_rows)
                indptr.append(np.cumsum(counts) + term_ids.length)
                term_ids.append(keys % N_TERMS)
                weights.append(rng.random(len(keys), np.float32) + np.float32(0.01))
        for name, strings in (("row_ids", row_ids), ("titles", row_ids), ("terms", terms)):
            write_strings(draft, name, strings)
        fingerprint = Vocabulary(terms).fingerprint
        meta = vectors_store.VectorsMeta(n_documents, N_TERMS, fingerprint, {"kind": "none"})
        vectors_store.write_meta(draft, meta)


def seconds(work: Callable[[], Any], runs: int) -> float:
    """The median."""
    taken = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return round(statistics.median(taken[1:]), 4)  # the first warms up


def hash_all(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            hash_file(file)


def measure(root: Path, n_documents: int, terms_each: int, runs: int) -> dict[str, Any]:
    vectors_path, path = root / "vectors", root / "index"
    write_vectors(vectors_path, n_documents, terms_each)
    vectors = vectors_store.open_vectors(vectors_path)
    with write_artifact(path, Manifest(index_store.KIND, index_store.FORMAT_VERSION, {})) as draft:
        build_index(vectors, draft, 0, IndexSettings(bits=8, reorder=False))
    index = index_store.open_index(path)
    time.sleep(2.5)  # what was written a moment ago is not remembered
    index_store.open_index(path)
    lengths, largest = np.zeros(index.n_terms, np.int64), np.zeros(index.n_terms, np.uint32)

    def open_unknown() -> None:
        os.environ[made_here.WHEN] = made_here.ALWAYS
        index_store.open_index(path)
        del os.environ[made_here.WHEN]

    def size_of(folder: Path) -> float:
        return round(sum(file.stat().st_size for file in folder.rglob("*")) / 2**20, 1)

    return {
        "documents": n_documents,
        "postings": index.meta.n_postings,
        "index_mib": size_of(path),
        "hash_index_s": seconds(lambda: hash_all(path), runs),
        "look_through_index_s": seconds(lambda: validate_index(path, index), runs),
        "of_that_lists_s": seconds(lambda: look_through(index.stored, lengths, largest), runs),
        "open_known_s": seconds(lambda: index_store.open_index(path), runs),
        "open_and_look_through_s": seconds(open_unknown, runs),
        "vectors_mib": size_of(vectors_path),
        "hash_vectors_s": seconds(lambda: hash_all(vectors_path), runs),
        "look_through_vectors_s": seconds(
            lambda: validate_matrix(vectors_path, vectors.matrix, vectors.vocabulary), runs
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--terms", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    load_kernels()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_STATE_HOME=f"{folder}/state", XDG_CACHE_HOME=f"{folder}/cache")
        result = measure(Path(folder), options.documents, options.terms, options.runs)
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
