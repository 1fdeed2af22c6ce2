"""The plain loop of `bench/plain_loop.py` as an engine."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench.engines.interface import Answer, Engine, Terms, Weights
from bench.plain_loop import ranked, search_plain


class PlainLoop(Engine):
    name = "plain-loop"

    def build(self, documents: sp.csr_matrix, folder: Path) -> int:
        lists = documents.tocsc()
        self._lists = (lists.indptr.astype(np.int64), lists.indices.astype(np.int32), lists.data.astype(np.uint8))
        self._accumulators = np.zeros(documents.shape[0], np.int32)
        return sum(array.nbytes for array in self._lists)

    def search(self, terms: Terms, weights: Weights, k: int) -> Answer:
        heap = np.empty(min(k, len(self._accumulators)), np.int64)
        return ranked(heap, search_plain(*self._lists, terms, weights, self._accumulators, heap))
