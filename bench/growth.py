"""How ours and the plain loop grow: time a query, memory and index size from 10,000 to 1,000,000 documents.

    python -m bench.growth --results FILE.json [--picture FILE.png] [--kinds c a] [--sizes 10000 100000]

Collections are made (bench/collections.py): a smaller one is the beginning of a larger one, and the queries are the
same. Making, building and searching each run in a fresh process, one after the other. Memory is what the process held
at most above what it held before: for building before the build began, with the documents loaded; for searching before
the index was opened. Pages of mapped files count as far as they were touched.
"""

import argparse
import ctypes
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench import collections
from bench.engines.ours import Ours
from bench.engines.plain import PlainLoop
from lexigraft.core.errors import LexigraftError
from lexigraft.core.resources import measured
from lexigraft.search.searcher import METHODS
from lexigraft.stages.pictures import finish, new_figure, save_figure

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
ENGINES: dict[str, Callable[[], Ours | PlainLoop]] = {
    **{f"lexigraft-{method}": (lambda method=method: Ours(method)) for method in METHODS},
    "plain-loop": PlainLoop,
}


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns, in a process that did nothing before and nothing after."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def write_collection(kind: str, n_documents: int, n_queries: int, folder: Path) -> int:
    made = collections.make(kind, n_documents, n_queries)
    collections.save(made, folder)
    return int(made.documents.nnz)


def warm_up(engine: str, ks: Sequence[int]) -> None:
    """Load what is imported late and compile what is compiled late, so that neither counts for memory or time."""
    with tempfile.TemporaryDirectory() as folder:
        small, tried = sp.csr_matrix(np.eye(5, dtype=np.uint8)), ENGINES[engine]()
        tried.build(small, Path(folder))
        for k in ks:
            tried.search(np.array([0, 3], np.int32), np.array([2, 1], np.int32), k)


def held_mib() -> float:
    """What this process holds now, without what it has freed and the allocator keeps for later."""
    with suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    with measured() as usage:
        pass
    return usage.peak_rss_mib


def build(engine: str, kind: str, folder: Path) -> dict[str, float]:
    warm_up(engine, [10])
    documents = collections.open_in(folder, kind).documents
    before = held_mib()
    with measured() as usage:
        size = ENGINES[engine]().build(documents, folder / engine)
    return {
        "index_mb": round(size / 1e6, 2),
        "build_s": round(usage.seconds, 2),
        "build_mib": round(usage.peak_rss_mib - before, 1),
    }


def search(engine: str, kind: str, folder: Path, ks: Sequence[int], runs: int) -> dict[str, Any]:
    warm_up(engine, ks)
    queries = collections.read_queries(folder / f"{kind}_Q.npz")
    rows = [collections.row_of(queries, row) for row in range(queries.shape[0])]
    before, found = held_mib(), {}
    with measured() as usage:
        opened = ENGINES[engine]()
        opened.open(folder / engine / opened.folder_name)
        for k in ks:
            seconds = np.array([[_seconds(opened.search, *row, k) for row in rows] for _ in range(runs + 1)])[1:]
            found[str(k)] = {
                "p50_ms": round(1000 * float(np.median(np.median(seconds, axis=1))), 5),
                "p99_ms": round(1000 * float(np.median(np.percentile(seconds, 99, axis=1))), 5),
            }
    return {"search_mib": round(usage.peak_rss_mib - before, 1), "k": found}


def _seconds(call: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def draw(points: Sequence[dict[str, Any]], path: Path) -> None:
    """One row of panels a kind: time at each k, memory while searching, index size; both axes logarithmic."""
    kinds, ks = sorted({point["kind"] for point in points}), list(points[0]["k"])
    panels = [(f"ms a query, k = {k}", lambda point, k=k: point["k"][k]["p50_ms"]) for k in ks]
    panels += [
        ("MiB held while searching", lambda point: point["search_mib"]),
        ("MB of index", lambda point: point["index_mb"]),
    ]
    size = (3.6 * len(panels), 3.2 * len(kinds))
    figure, axes = new_figure(len(kinds), len(panels), size)
    for row, kind in enumerate(kinds):
        for column, (title, value) in enumerate(panels):
            axis = axes[row][column]
            for engine in dict.fromkeys(point["engine"] for point in points):
                own = [point for point in points if (point["kind"], point["engine"]) == (kind, engine)]
                axis.plot([point["documents"] for point in own], [value(point) for point in own], "o-", label=engine)
            axis.set(xscale="log", yscale="log", xlabel="documents", title=f"({kind}) {title}")
            finish(axis, legend=8 if row == column == 0 else None)
    save_figure(figure, path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=["c", "a"], choices=list(collections.KINDS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--k", nargs="+", type=int, default=[10, 1000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--picture", type=Path, help="PNG or SVG file to draw")
    options = parser.parse_args()
    points: list[dict[str, Any]] = []
    for kind in options.kinds:
        for n_documents in options.sizes:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                postings = in_fresh_process(write_collection, kind, n_documents, options.queries, folder)
                for engine in options.engines:
                    point = {"kind": kind, "documents": n_documents, "postings": postings, "engine": engine}
                    point |= in_fresh_process(build, engine, kind, folder)
                    point |= in_fresh_process(search, engine, kind, folder, options.k, options.runs)
                    points.append(point)
                    print(json.dumps(point), flush=True)
                    options.results.parent.mkdir(parents=True, exist_ok=True)
                    options.results.write_text(json.dumps({"runs": options.runs, "points": points}, indent=2) + "\n")
    if options.picture:
        draw(points, options.picture)


if __name__ == "__main__":
    try:
        main()
    except LexigraftError as error:
        sys.exit(f"error: {error}")
