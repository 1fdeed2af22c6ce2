"""Time a query takes in every engine, over the same whole-number impacts, in turns, on one thread.

    python -m bench.engines [--data FOLDER] [--collections a b] [--engines lexigraft pisa] [--results FILE.json]

FOLDER holds NAME_D.npz and NAME_Q.npz (see bench/collections.py); without one, small collections are made. Exact
engines are held against an oracle before they are timed. See docs/results/engines.md for the rules.
"""

import argparse
import hashlib
import json
import platform
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from bench import collections
from bench.engines.interface import Engine
from bench.engines.measure import measure
from bench.engines.registry import chosen, installed
from bench.engines.report import ratios, summary, table
from lexigraft.core.errors import LexigraftError

PACKAGES = ("numpy", "numba", "scipy", "pyterrier-pisa", "pyseismic-lsr", "qdrant-edge-py")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of collections; made ones if none is given")
    parser.add_argument("--collections", nargs="+", help="names in the folder; all if none is given")
    parser.add_argument("--documents", type=int, default=20_000, help="size of made collections")
    parser.add_argument("--engines", nargs="+", default=[], help="beginnings of engines' names; all if none is given")
    parser.add_argument("--k", nargs="+", type=int, default=[10, 1000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--queries", type=int, default=500, help="the first so many of a collection are asked")
    parser.add_argument("--checked", type=int, default=50, help="so many of them are held against the oracle")
    parser.add_argument("--work", type=Path, help="where indexes are kept for a later run; nowhere if not given")
    parser.add_argument("--results", type=Path, help="JSON file to write")
    options = parser.parse_args()
    for name in ("documents", "runs", "queries", "checked"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} {getattr(options, name)}: 1 or more")
    if min(options.k) < 1:
        parser.error(f"--k {min(options.k)}: 1 or more")
    return options


def build(engines: list[Engine], collection: collections.Collection, folder: Path) -> dict[str, int]:
    sizes = {}
    for engine in engines:
        start = time.perf_counter()
        sizes[engine.name] = engine.build(collection.documents, folder)
        print(f"{collection.name}: {engine.name} ready after {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return sizes


def fingerprint(collection: collections.Collection) -> str:
    """Of the documents, so that a kept index is only used for what it was made from."""
    digest = hashlib.sha256()
    for array in (collection.documents.indptr, collection.documents.indices, collection.documents.data):
        digest.update(array)
    return digest.hexdigest()[:12]


def one_collection(
    engines: list[Engine], collection: collections.Collection, options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    folder = folder / f"{collection.name}-{fingerprint(collection)}"
    folder.mkdir(parents=True, exist_ok=True)
    sizes = build(engines, collection, folder)
    rows = range(min(options.queries, collection.queries.shape[0]))
    result: dict[str, Any] = {
        "documents": collection.documents.shape[0],
        "terms": collection.documents.shape[1],
        "postings": int(collection.documents.nnz),
        "queries": len(rows),
        "index_mb": {name: round(size / 1e6, 2) for name, size in sizes.items()},
        "k": {},
    }
    for k in options.k:
        timings = measure(engines, collection, k, options.runs, rows, options.checked)
        numbers = summary(engines, timings)
        result["k"][str(k)] = {"engines": numbers, "against_best_exact_peer": ratios(numbers)}
        title = f"\n{collection.name}, k = {k}, {len(rows)} queries, {options.runs} runs"
        print(table(title, numbers, sizes), flush=True)
    return result


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def main() -> None:
    options = read_options()
    engines, left_out = installed()
    engines = chosen(engines, options.engines)
    for peer, reason in left_out.items():
        print(f"{peer} is left out: {reason}", file=sys.stderr)
    results: dict[str, Any] = {
        "versions": versions(),
        "processor": platform.processor() or platform.machine(),
        "left_out": left_out,
        "runs": options.runs,
        "checked_queries": options.checked,
        "collections": {},
    }
    names = options.collections or (collections.names_in(options.data) if options.data else list(collections.KINDS))
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            opened = (
                collections.open_in(options.data, name) if options.data else collections.make(name, options.documents)
            )
            results["collections"][name] = one_collection(engines, opened, options, options.work or Path(scratch))
            if options.results:
                options.results.parent.mkdir(parents=True, exist_ok=True)
                options.results.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except LexigraftError as error:
        sys.exit(f"error: {error}")
