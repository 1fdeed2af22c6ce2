"""Seismic (TusKANNy/seismic, `pyseismic-lsr`): approximate, so it reports recall and is never the best exact peer.

The raw index takes integer term ids and gives integer document ids. It is built with the package's defaults; searches
trade time for recall by how many query terms are looked at (`query_cut`) and how far a block may fall behind
(`heap_factor`), and two points of that trade are measured.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.engines.interface import HOW_TO_INSTALL, Answer, Converted, Engine, Terms, Weights, made_once
from bench.engines.quiet import silenced
from lexigraft.core.errors import MissingExtraError

SMALL_VOCABULARY = 2**16  # up to here terms are stored in 16 bits
POINTS = {"fast": (5, 0.9), "careful": (25, 0.7)}


class Seismic(Converted):
    exact = False

    def __init__(self, point: str) -> None:
        try:
            import seismic
        except ImportError as error:
            raise MissingExtraError("the engine Seismic", "pyseismic-lsr", HOW_TO_INSTALL) from error
        self._package, self.name = seismic, f"seismic-{point}"
        self._query_cut, self._heap_factor = POINTS[point]

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        large = documents.shape[1] > SMALL_VOCABULARY
        kind = self._package.SeismicIndexRawLV if large else self._package.SeismicIndexRaw

        def make(draft: Path) -> None:
            write_rows(documents, draft / "rows.bin")
            kind.build(str(draft / "rows.bin")).save(str(draft / "index"))

        with silenced():
            path = made_once(folder / "seismic", make) / "index"
            self._index = kind.load(str(path))
        return path.stat().st_size

    def prepared(self, terms: Terms, weights: Weights, k: int) -> Callable[[], Any]:
        values = weights.astype(np.float32)
        return partial(self._index.search, terms, values, k, self._query_cut, self._heap_factor, 0, True)

    def answer(self, found: Any) -> Answer:
        return np.array([row for _, row in found], np.int64), np.array([score for score, _ in found], np.int64)


def write_rows(documents: sp.csr_matrix, path: Path) -> None:
    """Seismic's own format: the number of rows, then a row's length, its uint32 ids and its float32 weights."""
    lengths = np.diff(documents.indptr).astype(np.int64)
    starts = documents.indptr[:-1].astype(np.int64)
    heads = 1 + np.arange(len(lengths)) + 2 * starts
    out = np.empty(1 + len(lengths) + 2 * documents.nnz, np.uint32)
    out[0], out[heads] = len(lengths), lengths
    ids_at = np.arange(documents.nnz) + np.repeat(heads + 1 - starts, lengths)
    out[ids_at] = documents.indices
    out[ids_at + np.repeat(lengths, lengths)] = documents.data.astype(np.float32).view(np.uint32)
    out.tofile(path)


def engines() -> list[Engine]:
    return [Seismic(point) for point in POINTS]
