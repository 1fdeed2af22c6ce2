"""Our own engine from 1,000,000 to 10,000,000 documents on one machine: build, size, memory, time a query.

    python -m bench.ten_million --results FILE.json [--work FOLDER] [--sizes 1000000 10000000] [--queries 500]

Documents are made (kind (a) of bench/collections.py: 100,000 terms, 40 a document); queries have 8 terms by the same
law. Vectors are written once, in blocks, into mapped files; a smaller collection is the beginning of a larger one, and
the queries are the same. Building and searching each run in a fresh process, so that memory is that of the work alone:
*held* is the peak of everything, mapped files as far as they were touched, *own* what the kernel could not take back.
"""

import argparse
import json
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bench import collections
from bench.engines.interface import folder_bytes
from bench.growth import held_mib, in_fresh_process, warm_up
from lexigraft.core.arrays import ArrayWriter, open_array
from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import LexigraftError
from lexigraft.core.resources import measured
from lexigraft.core.types import SparseMatrix, Vocabulary
from lexigraft.index import store
from lexigraft.index.build import build_index
from lexigraft.search.searcher import Searcher
from lexigraft.vectors.store import DocumentVectors

SIZES = (1_000_000, 2_000_000, 5_000_000, 10_000_000)
KS, THREADS = (10, 1000), (1, 2)
KIND = replace(collections.KINDS["a"], per_query=8)
QUERIES = "q"  # the name of the file of queries


class Numbered(Sequence[str]):
    """The ids of made documents, or titles: written when asked for, so that ten million are no Python objects."""

    def __init__(self, size: int, form: str = "{:08d}") -> None:
        self._size, self._form = size, form

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        return self._form.format(range(self._size)[place])

    def __iter__(self) -> Iterator[str]:
        return map(self._form.format, range(self._size))


def make_vectors(n_documents: int, n_queries: int, folder: Path) -> float:
    """Write the rows of the largest collection, and the queries; gives the seconds."""
    start, law = time.perf_counter(), collections.Law(KIND)
    with (
        ArrayWriter(folder / "term_ids.npy", np.int32) as term_ids,
        ArrayWriter(folder / "weights.npy", np.float32) as weights,
    ):
        for _, terms, impacts in collections._document_chunks(law, n_documents):
            ids = law.term_id[terms]
            order = np.argsort(ids, axis=1)
            term_ids.append(np.take_along_axis(ids, order, axis=1).ravel())
            weights.append(np.take_along_axis(impacts, order, axis=1).ravel())
    # The first chunk is whole whatever the size, so that queries do not depend on it.
    topics, terms, impacts = next(collections._document_chunks(law, collections.ROWS_PER_CHUNK))
    rng = np.random.default_rng((KIND.seed, 0, 1))
    rows = rng.integers(len(terms), size=n_queries)
    made = [collections._made_query(law, rng, topics[row], terms[row], impacts[row]) for row in rows]
    queries = collections._csr(np.stack([ids for ids, _ in made]), np.stack([w for _, w in made]), KIND.n_terms)
    sp.save_npz(folder / QUERIES, queries)
    return time.perf_counter() - start


def first_rows(folder: Path, n_documents: int) -> DocumentVectors:
    """The first documents of what `make_vectors` wrote, mapped."""
    vocabulary, entries = Vocabulary([f"{term:07d}" for term in range(KIND.n_terms)]), n_documents * KIND.per_document
    matrix = SparseMatrix(
        row_ids=Numbered(n_documents),
        indptr=np.arange(n_documents + 1, dtype=np.int64) * KIND.per_document,
        term_ids=open_array(folder / "term_ids.npy", np.int32)[:entries],
        weights=open_array(folder / "weights.npy", np.float32)[:entries],
        n_terms=KIND.n_terms,
        vocab_fingerprint=vocabulary.fingerprint,
    )
    return DocumentVectors(matrix, Numbered(n_documents, "Title {:08d}"), vocabulary, {"kind": "none"}, "")


class OwnMemory:
    """The most memory that is this process's own (RssAnon), looked at ten times a second; 0 where there is no /proc."""

    def __enter__(self) -> "OwnMemory":
        self.before, self._ended = _own_mib(), threading.Event()
        self.peak_mib, self._thread = self.before, threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            self.peak_mib = max(self.peak_mib, _own_mib())

    def __exit__(self, *_: object) -> None:
        self.peak_mib = max(self.peak_mib, _own_mib())
        self._ended.set()
        self._thread.join()


def _own_mib() -> float:
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:")), 0.0)


def build(n_documents: int, folder: Path, out: Path) -> dict[str, Any]:
    """From mapped vectors to an index artifact, its checksums included."""
    warm_up("lexigraft-auto", [10])
    vectors, before = first_rows(folder, n_documents), held_mib()
    wanted = Manifest(store.KIND, store.FORMAT_VERSION, {"documents": n_documents})
    worked = time.process_time()
    with measured() as usage, OwnMemory() as own, write_artifact(out, wanted) as draft:
        meta = build_index(vectors, draft, scale=1.0)  # the index holds exactly these integers
    worked, size = time.process_time() - worked, folder_bytes(out)
    lists = sum((out / name).stat().st_size for name in ("stream.npy", "entries.npy"))
    return {
        "postings": meta.n_postings,
        "build_s": round(usage.seconds, 1),
        "build_cpu_s": round(worked, 1),  # of one core; the build has one thread
        "documents_a_cpu_second": round(n_documents / worked),
        "index_mb": round(size / 1e6, 1),
        "bytes_a_posting_lists": round(lists / meta.n_postings, 3),
        "bytes_a_document_other": round((size - lists) / n_documents, 2),
        "build_held_mib": round(usage.peak_rss_mib - before),
        "build_own_mib": round(own.peak_mib - own.before),
    }


def search(index: Path, folder: Path, runs: int) -> dict[str, Any]:
    """Times of single calls at each k, by one thread and by two that ask at the same time."""
    warm_up("lexigraft-auto", KS)
    queries = collections.read_queries(folder / f"{QUERIES}.npz")
    rows, before = [collections.row_of(queries, row) for row in range(queries.shape[0])], held_mib()
    found: list[dict[str, Any]] = []
    with measured() as usage, OwnMemory() as own:
        start = time.perf_counter()
        opened = store.open_index(index)
        searcher, open_s = Searcher(opened), time.perf_counter() - start
        for k in KS:
            for n_threads in THREADS:
                found.append({"k": k, "threads": n_threads, **_times(searcher, rows, k, n_threads, runs)})
    touched = float(np.mean([opened.lengths[terms].sum() for terms, _ in rows]))
    return {
        "open_s": round(open_s, 2),
        "search_held_mib": round(usage.peak_rss_mib - before),
        "search_own_mib": round(own.peak_mib - own.before),
        "postings_a_query": round(touched),
        "searches": found,
    }


def _times(searcher: Searcher, rows: Sequence[Any], k: int, n_threads: int, runs: int) -> dict[str, float]:
    """The medians over the runs, after one that is not counted: it reads the pages that all later ones find.

    Beside the time on the clock stands that of the core (cpu): where others use the cores too, the first holds the
    waits for them, and its p99 is little else.
    """
    clock, cpu, rate = [], [], []
    for _ in range(runs + 1):
        taken: list[NDArray[np.float64]] = [np.zeros(0)] * n_threads

        def ask(number: int, taken: list[NDArray[np.float64]] = taken) -> None:
            # Every thread asks all queries, beginning elsewhere, so that two never share what one of them fetched.
            turn = number * len(rows) // n_threads
            taken[number] = np.array([_milliseconds(searcher, row, k) for row in [*rows[turn:], *rows[:turn]]])

        start = time.perf_counter()
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate.append(n_threads * len(rows) / (time.perf_counter() - start))
        every = np.concatenate(taken)
        clock.append(np.percentile(every[:, 0], (50, 99)))
        cpu.append(np.percentile(every[:, 1], (50, 99)))
    found = dict(zip(("p50_ms", "p99_ms"), np.median(clock[1:], axis=0).tolist(), strict=True))
    found |= dict(zip(("cpu_p50_ms", "cpu_p99_ms"), np.median(cpu[1:], axis=0).tolist(), strict=True))
    found |= {"first_pass_p50_ms": float(clock[0][0]), "queries_a_second": float(np.median(rate[1:]))}
    return {name: round(value, 4) for name, value in found.items()}


def _milliseconds(searcher: Searcher, row: tuple[NDArray[np.int32], NDArray[Any]], k: int) -> tuple[float, float]:
    start, worked = time.perf_counter(), time.thread_time()
    searcher.search_ordinals(*row, k)
    return 1000 * (time.perf_counter() - start), 1000 * (time.thread_time() - worked)


def _table(points: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The numbers as rows of Markdown; seconds and milliseconds are those of the core."""
    heads = ["documents", "build s", "documents a second", "index MB", "MiB to build", "MiB to search"]
    heads += [f"k = {k}, {n} thread{'s' * (n > 1)}" for k in KS for n in THREADS]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for point in points:
        cells = [f"{point['documents']:,}", f"{point['build_cpu_s']:g}", f"{point['documents_a_cpu_second']:,}"]
        mapped = f"{point['search_own_mib']:,} + {point['search_held_mib'] - point['search_own_mib']:,} mapped"
        cells += [f"{point['index_mb']:,.0f}", f"{point['build_own_mib']:,}", mapped]
        cells += [f"{found['cpu_p50_ms']:.2f} / {found['cpu_p99_ms']:.2f}" for found in point["searches"]]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", type=Path, help="where the scratch folder is made; 5 GB for 10,000,000 documents")
    parser.add_argument("--results", type=Path, required=True, help="JSON file to write")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    points: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        folder = Path(scratch)
        seconds = in_fresh_process(make_vectors, max(options.sizes), options.queries, folder)
        print(f"{max(options.sizes):,} documents made in {seconds:.0f} s", flush=True)
        about = {"machine": platform.machine(), "queries": options.queries, "runs": options.runs}
        about |= {"terms": KIND.n_terms, "terms_a_document": KIND.per_document, "terms_a_query": KIND.per_query}
        for n_documents in sorted(options.sizes):
            index = folder / f"index{n_documents}"
            point = {"documents": n_documents, **in_fresh_process(build, n_documents, folder, index)}
            point |= in_fresh_process(search, index, folder, options.runs)
            points.append(point)
            print(json.dumps(point), flush=True)
            options.results.write_text(json.dumps({**about, "points": points}, indent=2) + "\n")
    print("\n".join(_table(points)))


if __name__ == "__main__":
    try:
        main()
    except LexigraftError as error:
        sys.exit(f"error: {error}")
