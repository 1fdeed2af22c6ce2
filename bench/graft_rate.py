"""Seconds and memory of each part of a graft, for any number of documents whose vectors are there.

    python -m bench.graft_rate VECTORS.npy [--rows N] [--cost 1] [--out FILE]

The vectors are mapped (float16); BM25's rows are made: forty words a document of Zipf's law over a vocabulary that
grows as texts' do, so that lists are as long as real ones. Parts work one after the other in a process each, on mapped
files: neighbours, the regression, the rows that are kept.
"""

import argparse
import json
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.settings import GraftedSettings
from lexigraft.core.types import SparseMatrix
from lexigraft.grafted.neighbours import Neighbours, nearest
from lexigraft.grafted.regression import Regression, fit
from lexigraft.grafted.rows import Graft
from lexigraft.grafted.shares import Shares, usual_lift
from lexigraft.grafted.write import threshold_of
from lexigraft.vectors.lexical import inverse_document_frequency
from lexigraft.vectors.rows_writer import RowsWriter

WORDS, AT_ONCE = 40, 1 << 15


def made_rows(folder: Path, n: int) -> None:
    """Rows of BM25 for `n` documents: words of Zipf's law, weights that fall with their frequency."""
    n_terms, chance = int(44 * (n * WORDS) ** 0.5), np.random.default_rng(0)
    share = 1 / np.arange(1, n_terms + 1)
    ends = np.cumsum(share / share.sum())
    with RowsWriter(folder) as writer:
        for start in range(0, n, AT_ONCE):
            rows = min(AT_ONCE, n - start)
            drawn = np.sort(np.searchsorted(ends, chance.random((rows, WORDS))).clip(0, n_terms - 1), axis=1)
            first = np.diff(drawn, axis=1, prepend=-1) > 0
            idf = inverse_document_frequency(n, np.maximum(1, n * (1 - (1 - share / share.sum()) ** WORDS)))
            weights = idf[drawn[first]] * chance.uniform(0.3, 0.7, int(first.sum()))
            writer.append_rows(np.cumsum(first.sum(axis=1)), drawn[first], weights)


def opened(folder: Path) -> SparseMatrix:
    indptr, term_ids, weights = (
        np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("indptr", "term_ids", "weights")
    )
    n = len(indptr) - 1
    return SparseMatrix(range(n), indptr, term_ids, weights, int(44 * (n * WORDS) ** 0.5), "made")


def neighbours_of(folder: Path, vectors: Path, n: int, cost: float) -> dict[str, Any]:
    found = nearest(np.load(vectors, mmap_mode="r")[:n], 10)
    np.save(folder / "near.npy", found.rows)
    np.save(folder / "cosines.npy", found.cosines)
    return {}


def regression_of(folder: Path, vectors: Path, n: int, cost: float) -> dict[str, Any]:
    found = fit(np.load(vectors, mmap_mode="r")[:n], opened(folder))
    for name, value in found._asdict().items():
        np.save(folder / f"regression-{name}.npy", value)
    return {"terms": len(found.terms)}


def rows_of(folder: Path, vectors: Path, n: int, cost: float) -> dict[str, Any]:
    weights = opened(folder)
    regression = Regression(*(np.load(folder / f"regression-{name}.npy") for name in Regression._fields))
    near = Neighbours(np.load(folder / "near.npy"), np.load(folder / "cosines.npy"))
    shares = Shares(GraftedSettings.borrowed, GraftedSettings.told, usual_lift(weights.indptr))
    graft = Graft(weights, np.load(vectors, mmap_mode="r")[:n], near, regression, shares)
    threshold, postings = threshold_of(graft, cost), 0
    (folder / "grafted").mkdir()
    with RowsWriter(folder / "grafted") as writer:
        for block in graft.rows(np.arange(n), threshold):
            writer.append_rows(block.indptr[1:], block.indices, block.data)
            postings += block.nnz
    return {"threshold": threshold, "postings": postings, "bm25_postings": int(weights.indptr[-1])}


def timed(part: Any, *given: Any) -> dict[str, Any]:
    """A part in a process of its own, with its seconds and peak memory."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (part, *given))


def _run(part: Any, *given: Any) -> dict[str, Any]:
    began = time.monotonic()
    found = part(*given)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        **found, "seconds": round(time.monotonic() - began, 1), "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_MiB": round(used.ru_maxrss / 1024),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--cost", type=float, default=1.0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    n = given.rows or len(np.load(given.vectors, mmap_mode="r"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made_rows(folder, n)
        parts = {"neighbours": neighbours_of, "regression": regression_of, "rows": rows_of}
        found: dict[str, Any] = {"documents": n, "cost": given.cost}
        for name, part in parts.items():
            found[name] = timed(part, folder, given.vectors, n, given.cost)
            print(name, found[name], flush=True)
    text = json.dumps(found, indent=1)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
