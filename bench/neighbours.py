"""Neighbours of all rows of a matrix: ours, exact and by cells, beside libraries that find them approximately.

    python -m bench.neighbours (--vectors FILE.npy | --made 1000000) [--rows N] [--ways exact cells usearch ...]
                               [--packages DIR] [--judged 2000] [--out FILE.json]

`--made` draws rows of 384 numbers from topics within topics; `--vectors` reads what an encoder made. Each way works in
a process of its own on the memory-mapped file; wall and processor seconds and peak memory are measured. What it found
for some rows is compared with the exact neighbours of these: recall@10, and what the mean cosine of the ten loses,
which is what documents that borrow words from neighbours lose. A way may have parameters:
cells:visited=32,per_root=4; hnswlib:m=16,ef=64; faiss:kind=IVF1000+Flat,visited=32. Libraries that are not installed
are looked for in --packages. JSON goes to stdout, and to --out.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.compiled import load_kernels
from lexigraft.core.resources import measured
from lexigraft.grafted import cells, neighbours
from lexigraft.grafted.neighbours import nearest, nearest_to

WIDTH, K, AT_ONCE = 384, 10, 1 << 14
Found = np.ndarray


def made_rows(path: Path, n: int, seed: int = 0) -> None:
    """Rows of unit length in float16: a topic of some hundred, one of its parts, and what a text has of its own."""
    rng = np.random.default_rng(seed)
    spectrum = (np.arange(WIDTH) + 10.0) ** -0.5
    topics = rng.normal(size=(max(1, n // 5000), WIDTH)) * spectrum
    parts = (
        rng.normal(size=(max(1, n // 50), WIDTH)) * spectrum
        + 1.2 * topics[rng.integers(len(topics), size=max(1, n // 50))]
    )
    rows = np.lib.format.open_memmap(path, "w+", np.float16, (n, WIDTH))
    for start in range(0, n, AT_ONCE):
        count = min(AT_ONCE, n - start)
        part = (rng.random(count) ** 2 * len(parts)).astype(np.int64)  # some parts have many more texts than others
        some = parts[part] + 1.2 * rng.normal(size=(count, WIDTH)) * spectrum
        rows[start : start + count] = some / np.linalg.norm(some, axis=1, keepdims=True)
    rows.flush()


def exact(rows: Found) -> Found:
    neighbours.MOST_PRODUCTS = sys.maxsize
    return nearest(rows, K).rows


def by_cells(rows: Found, visited: int = cells.VISITED, per_root: int = cells.PER_ROOT) -> Found:
    neighbours.MOST_PRODUCTS, cells.VISITED, cells.PER_ROOT = 0, visited, per_root
    return nearest(rows, K).rows


def by_faiss(rows: Found, kind: str, ef: int = 64, visited: int = 16, rerank: int = 0) -> Found:
    """`kind`: of index_factory, such as HNSW16; "+" stands for a comma, as in IVF4000+Flat."""
    import faiss

    given = np.asarray(rows, np.float32)
    index = faiss.index_factory(rows.shape[1], kind.replace("+", ","), faiss.METRIC_INNER_PRODUCT)
    index.train(given[:: max(1, len(rows) // 200_000)])
    index.add(given)
    inside = faiss.extract_index_ivf(index) if "IVF" in kind else index
    if "IVF" in kind:
        inside.nprobe = visited
    elif "HNSW" in kind:
        index.hnsw.efSearch = ef
    return without_themselves(index.search(given, K + 1)[1])


def by_hnswlib(rows: Found, m: int = 16, ef: int = 64, build: int = 100) -> Found:
    import hnswlib

    index = hnswlib.Index("ip", rows.shape[1])
    index.init_index(len(rows), ef_construction=build, M=m)
    for start in range(0, len(rows), AT_ONCE):
        index.add_items(np.asarray(rows[start : start + AT_ONCE], np.float32))
    index.set_ef(ef)
    parts = range(0, len(rows), AT_ONCE)
    return without_themselves(
        np.concatenate([index.knn_query(np.asarray(rows[at : at + AT_ONCE], np.float32), K + 1)[0] for at in parts])
    )


def by_usearch(rows: Found, m: int = 16, ef: int = 64, build: int = 100, dtype: str = "f16") -> Found:
    from usearch.index import Index

    index = Index(
        ndim=rows.shape[1], metric="ip", dtype=dtype, connectivity=m, expansion_add=build, expansion_search=ef
    )
    index.add(np.arange(len(rows)), np.asarray(rows), threads=2)
    return without_themselves(index.search(np.asarray(rows), K + 1, threads=2).keys)


def by_pynndescent(rows: Found, seed: int = 0) -> Found:
    from pynndescent import NNDescent

    return without_themselves(
        NNDescent(np.asarray(rows, np.float32), "dot", n_neighbors=K + 1, random_state=seed).neighbor_graph[0]
    )


def without_themselves(found: Found) -> Found:
    """[n, K] of [n, K + 1], in which a row may have found itself."""
    others = [[other for other in of_one if other != row][:K] for row, of_one in enumerate(np.asarray(found).tolist())]
    return np.array([of_one + [-1] * (K - len(of_one)) for of_one in others])


WAYS: dict[str, Callable[..., Found]] = {
    "exact": exact, "cells": by_cells, "faiss": by_faiss, "hnswlib": by_hnswlib, "usearch": by_usearch,
    "pynndescent": by_pynndescent,
}  # fmt: skip


def work(way: str, path: Path, n_rows: int, out: Path) -> None:
    name, _, given = way.partition(":")
    options = {
        key: int(value) if value.isdecimal() else value
        for key, value in (part.split("=") for part in given.split(",") if part)
    }
    rows = np.load(path, mmap_mode="r")[:n_rows]
    load_kernels()
    WAYS[name](rows[:2000], **({**options, "kind": "HNSW16"} if name == "faiss" else options))  # kernels, imports
    processor = time.process_time()
    with measured() as usage:
        found = WAYS[name](rows, **options)
    np.save(out, found)
    said = {"seconds": usage.seconds, "processor_s": time.process_time() - processor, "peak_mib": usage.peak_rss_mib}
    out.with_suffix(".json").write_text(json.dumps({key: round(value, 1) for key, value in said.items()}))


def judged(rows: Found, some: Found) -> tuple[Found, Found]:
    """The exact neighbours of some rows, and their cosines."""
    found = nearest_to(np.asarray(rows[some]), rows, K + 1)
    others = [np.flatnonzero(of_one != row)[:K] for row, of_one in zip(some, found.rows, strict=True)]
    return np.take_along_axis(found.rows, np.array(others), 1), np.take_along_axis(found.cosines, np.array(others), 1)


def quality(rows: Found, found: Found, some: Found, truth: tuple[Found, Found]) -> dict[str, float]:
    asked = rows[some].astype(np.float64)
    others = rows[np.maximum(found[some], 0)].astype(np.float64)
    lengths = np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(others, axis=2)
    cosines = np.where(found[some] < 0, 0, np.einsum("mw,mkw->mk", asked, others) / lengths)
    recall = [len(set(a) & set(b)) / K for a, b in zip(found[some].tolist(), truth[0].tolist(), strict=True)]
    return {
        "recall": round(float(np.mean(recall)), 4),
        "cosine_lost": round(float((truth[1] - cosines).mean()), 5),
        "nearest_found": round(float((found[some] == truth[0][:, :1]).any(axis=1).mean()), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--made", type=int, default=100_000)
    parser.add_argument("--rows", type=int, help="the first so many; without it, all")
    parser.add_argument("--ways", nargs="+", default=["exact", "cells"])
    parser.add_argument("--packages", type=Path, help="a folder that pip installed libraries into")
    parser.add_argument("--judged", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.packages:
        sys.path.append(str(options.packages))
    with tempfile.TemporaryDirectory() as folder:
        path = options.vectors or Path(folder) / "made.npy"
        if options.vectors is None:
            made_rows(path, options.made)
        rows = np.load(path, mmap_mode="r")[: options.rows]
        some = np.linspace(0, len(rows) - 1, min(options.judged, len(rows))).astype(np.int64)
        truth = judged(rows, some)
        mean = [round(float(cosine), 3) for cosine in truth[1].mean(axis=0)]
        result: dict[str, Any] = {"vectors": path.name, "rows": len(rows), "width": rows.shape[1], "cosines": mean}
        for way in options.ways:
            out = Path(folder) / "found.npy"
            process = multiprocessing.get_context("spawn").Process(target=work, args=(way, path, len(rows), out))
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{way} failed with {process.exitcode}")
            result[way] = {
                **json.loads(out.with_suffix(".json").read_text()),
                **quality(rows, np.load(out), some, truth),
            }
            print(f"{way}: {result[way]}", file=sys.stderr, flush=True)
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
